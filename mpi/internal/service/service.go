package service

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"gomx/internal/labels"
	"gomx/mx"
	"strconv"
)

// Kind says what a question or note is about.
type Kind uint8

// Handler handles the questions and notes of a kind. One goroutine at a time calls it for those of other processes. The
// goroutines of its own process that call Call, Tell and Post call it as well, at any time. It must not wait for another
// process.
type Handler func(q *Question)

type handler struct {
	f    Handler
	head int
}

// Largest is the size limit of a question or note in bytes, head and data together.
const Largest = 64<<10 + 512

// Address says how to connect to a service: the address of its endpoint.
type Address struct {
	NIC      uint64
	Endpoint uint32
	Filter   uint32 // a random number, which tells the service from a later process at the same address
}

// Service is the part of one process. All methods may be called from any goroutine.
type Service struct {
	ep       *mx.Endpoint // nil: there are no other processes
	address  Address
	self     int
	peers    []peer
	handlers [256]handler
	next     atomic.Uint32 // number of the next question
	asked    atomic.Uint32 // number of calls to the own process

	mu     sync.Mutex
	ranks  map[mx.EndpointAddr]int // of those that have introduced themselves
	closed atomic.Bool
	over   chan struct{} // closed with the service
	done   sync.WaitGroup
}

// peer is another process, as far as it is known.
type peer struct {
	address Address
	addr    atomic.Pointer[mx.EndpointAddr] // nil until it is needed
	lost    atomic.Pointer[error]           // the error with which Lose has marked it as failed
}

// gone returns the error with which the process was marked as failed, or nil.
func (p *peer) gone() error {
	if why := p.lost.Load(); why != nil {
		return *why
	}
	return nil
}

// The match bits. An answer has the highest bit set, and the number of its question. A question has its kind and its
// number; a note has its kind, and number 0.
const (
	answerBit = uint64(1) << 63
	kindShift = 32
	exactly   = mx.MatchMaskNone
)

// Local makes the service of a process that is the only one of its job.
func Local(self int) *Service { return &Service{self: self, over: make(chan struct{})} }

// Open opens the endpoint of the service of process self. Begin has to follow.
func Open(self int, params ...mx.Param) (*Service, error) {
	var random [4]byte
	_, _ = rand.Read(random[:])
	filter := binary.LittleEndian.Uint32(random[:])
	params = append([]mx.Param{mx.WithErrorHandler(mx.ErrorsReturn)}, params...)
	ep, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter, params...)
	if err != nil {
		return nil, err
	}
	s := &Service{ep: ep, self: self, ranks: map[mx.EndpointAddr]int{}, over: make(chan struct{})}
	if s.address.NIC, s.address.Endpoint, err = mx.DecomposeEndpointAddr(ep.Addr()); err != nil {
		_ = ep.Close()
		return nil, err
	}
	s.address.Filter = filter
	return s, nil
}

// Address returns the address under which other processes connect to the service. It is zero for a local one.
func (s *Service) Address() Address { return s.address }

// Self returns the number of the own process.
func (s *Service) Self() int { return s.self }

// Handle sets the handler of a kind, whose questions and notes have a head of that many bytes. It must be called before
// Begin.
func (s *Service) Handle(kind Kind, head int, h Handler) { s.handlers[kind] = handler{h, head} }

// Begin starts the goroutine that handles questions and notes. addresses are those of all processes of the job, in order.
func (s *Service) Begin(addresses []Address) error {
	if s.ep == nil {
		return nil
	}
	s.peers = make([]peer, len(addresses))
	for i := range addresses {
		s.peers[i].address = addresses[i]
	}
	if err := s.ep.RegisterUnexpHandler(s.unexpected, nil); err != nil {
		return err
	}
	s.done.Go(labels.For("service", "rank", strconv.Itoa(s.self)).Func(s.serve))
	return nil
}

// Close ends the service. Calls that wait return ErrClosed or another error.
func (s *Service) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	close(s.over)
	if s.ep == nil {
		return nil
	}
	err := s.ep.Close()
	s.done.Wait()
	return err
}

// unexpected drops answers to calls that have returned. Questions and notes are left for the next receive of serve.
func (s *Service) unexpected(_ any, _ mx.EndpointAddr, match uint64, _ uint32, _ []byte) mx.UnexpAction {
	if match&answerBit != 0 {
		return mx.RecvFinished
	}
	return mx.RecvContinue
}

// serve receives and handles questions and notes. It has two buffers, so that one is filled while the other is handled.
func (s *Service) serve() {
	var bufs [2][]byte
	var reqs [2]mx.Request
	for i := range reqs {
		bufs[i] = make([]byte, Largest)
		r, err := s.ep.Irecv(bufs[i], 0, answerBit, nil)
		if err != nil {
			return
		}
		reqs[i] = r
	}
	for i := 0; ; i ^= 1 {
		st, done, err := s.ep.Wait(reqs[i], mx.Infinite)
		for !done && err == nil { // Wakeup
			st, done, err = s.ep.Wait(reqs[i], mx.Infinite)
		}
		if err != nil {
			return
		}
		if st.Code == mx.StatusSuccess {
			s.handle(&st, bufs[i][:st.XferLength])
		}
		if reqs[i], err = s.ep.Irecv(bufs[i], 0, answerBit, nil); err != nil {
			return
		}
	}
}

func (s *Service) handle(st *mx.Status, text []byte) {
	kind := Kind(st.MatchInfo >> kindShift)
	h := &s.handlers[kind]
	q := Question{s: s, from: st.Source, number: uint32(st.MatchInfo)}
	if h.f == nil || len(text) < idSize+h.head {
		q.Answer(nil, nil)
		return
	}
	q.From = int(binary.LittleEndian.Uint32(text))
	q.Head, q.Data = text[idSize:idSize+h.head], text[idSize+h.head:]
	if q.From >= len(s.peers) || !s.is(st.Source, q.From) {
		q.Answer(nil, nil)
		return
	}
	h.f(&q)
}

// is reports whether the sender of a message may call itself that process. An address belongs to the first process that
// was named in a message from there.
func (s *Service) is(addr mx.EndpointAddr, process int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	known, ok := s.ranks[addr]
	if !ok {
		s.ranks[addr] = process
		return true
	}
	return known == process
}

// Lose marks a process as failed: calls to it return the error why from now on, those that wait and those that begin later.
// If Lose is called again, the last reason holds. A call that was just about to wait notices at the next Wakeup. Post still
// reaches the process if it is alive after all.
func (s *Service) Lose(process int, why error) {
	if s.ep == nil || process < 0 || process >= len(s.peers) || process == s.self {
		return
	}
	s.peers[process].lost.Store(&why)
	s.Wakeup()
}

// Wakeup makes calls that wait check whether their process has failed.
func (s *Service) Wakeup() {
	if s.ep != nil {
		s.ep.Wakeup()
	}
}

// reach returns another process and its address, and connects to it first if it is not connected. Several goroutines may
// connect to a process at once: they get the same address.
func (s *Service) reach(ctx context.Context, process int) (*peer, mx.EndpointAddr, error) {
	if s.ep == nil || process < 0 || process >= len(s.peers) {
		return nil, mx.EndpointAddr{}, fmt.Errorf("there is no process %d", process)
	}
	p := &s.peers[process]
	if why := p.gone(); why != nil {
		return p, mx.EndpointAddr{}, why
	}
	if addr := p.addr.Load(); addr != nil {
		return p, *addr, nil
	}
	addr, err := Connect(ctx, func(ctx context.Context) (mx.EndpointAddr, error) {
		if why := p.gone(); why != nil {
			return mx.EndpointAddr{}, why
		}
		return s.ep.ConnectContext(ctx, p.address.NIC, p.address.Endpoint, p.address.Filter)
	})
	if err == nil {
		p.addr.Store(&addr)
	}
	return p, addr, err
}

// Watch blocks until the session with a process ends, and returns true and how it ended. It returns false and the reason if
// ctx ends or the service is closed. Lose does not end it.
func (s *Service) Watch(ctx context.Context, process int) (gone bool, why error) {
	_, addr, err := s.reach(ctx, process)
	if err != nil {
		return ctx.Err() == nil && !s.closed.Load(), err
	}
	r, err := s.ep.Watch(addr, answerBit, nil)
	if err != nil {
		return false, err
	}
	for {
		st, done, err := s.waitOnce(ctx, r)
		switch {
		case ctx.Err() != nil:
			_, _, _ = s.ep.Abandon(r)
			return false, ctx.Err()
		case s.closed.Load():
			return false, err
		case done:
			return st.Code != mx.StatusSuccess, st.Code
		case err != nil:
			return false, err
		}
	}
}
