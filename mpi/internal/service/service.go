package service

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"gomx/mx"
)

// Kind says what a question or note is about.
type Kind uint8

// Handler deals with questions and notes of a kind. It is called by one goroutine at a
// time for what comes from other processes, and beside that by those of the own
// process; it must not wait for another process.
type Handler func(q *Question)

type handler struct {
	f    Handler
	head int
}

// Largest is how many bytes a question or note can have, head and data together.
const Largest = 64<<10 + 512

// Place is where a service can be reached.
type Place struct {
	NIC      uint64
	Endpoint uint32
	Filter   uint32 // a random number: who answers to it is the one that is meant
}

// Service is the process's part. All methods may be called from any goroutine.
type Service struct {
	ep       *mx.Endpoint // nil: there are no other processes
	place    Place
	self     int
	peers    []peer
	handlers [256]handler
	next     atomic.Uint32 // number of the next question
	asked    atomic.Uint32 // how often the own process was

	mu     sync.Mutex
	ranks  map[mx.EndpointAddr]int // of those that have introduced themselves
	closed atomic.Bool
	over   chan struct{} // closed with the service
	done   sync.WaitGroup
}

// peer is another process, as far as it is known.
type peer struct {
	place Place
	addr  atomic.Pointer[mx.EndpointAddr] // nil until it is needed
	lost  atomic.Pointer[error]           // why it is not waited for any more
}

// gone returns why a process is not waited for any more, or nil.
func (p *peer) gone() error {
	if why := p.lost.Load(); why != nil {
		return *why
	}
	return nil
}

// The match bits: an answer has the upper one and the number of its question. All else
// is a question or note, with its kind, and the number of the answer that it wants.
const (
	answerBit = uint64(1) << 63
	kindShift = 32
	exactly   = mx.MatchMaskNone
)

// Local makes the service of a process that is all of its job.
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
	if s.place.NIC, s.place.Endpoint, err = mx.DecomposeEndpointAddr(ep.Addr()); err != nil {
		_ = ep.Close()
		return nil, err
	}
	s.place.Filter = filter
	return s, nil
}

// Place returns where others reach the service; nothing for a local one.
func (s *Service) Place() Place { return s.place }

// Self returns the number of the own process.
func (s *Service) Self() int { return s.self }

// Handle sets the handler of a kind, whose questions have a head of that many bytes,
// before Begin.
func (s *Service) Handle(kind Kind, head int, h Handler) { s.handlers[kind] = handler{h, head} }

// Begin begins to answer. The places are those of all processes, in their order.
func (s *Service) Begin(places []Place) error {
	if s.ep == nil {
		return nil
	}
	s.peers = make([]peer, len(places))
	for i := range places {
		s.peers[i].place = places[i]
	}
	if err := s.ep.RegisterUnexpHandler(s.unexpected, nil); err != nil {
		return err
	}
	s.done.Go(s.serve)
	return nil
}

// Close ends the service. Calls that wait return an error.
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

// unexpected drops answers that nobody waits for any more. Everything else waits for the
// server's next receive.
func (s *Service) unexpected(_ any, _ mx.EndpointAddr, match uint64, _ uint32, _ []byte) mx.UnexpAction {
	if match&answerBit != 0 {
		return mx.RecvFinished
	}
	return mx.RecvContinue
}

// serve receives and handles what comes, with two buffers, so that one fills while the
// other is read.
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

// is reports whether the sender of a message may call itself that process: an address
// belongs to the first that was named from there.
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

// Lose says that a process is gone, and why: calls to it end with that error, those that begin later too. If it is said
// again, the last reason holds. A call that was just about to wait looks at the next Wakeup. Post still reaches a process that is not gone at all.
func (s *Service) Lose(process int, why error) {
	if s.ep == nil || process < 0 || process >= len(s.peers) || process == s.self {
		return
	}
	s.peers[process].lost.Store(&why)
	s.Wakeup()
}

// Wakeup has calls that wait look whether the process is gone.
func (s *Service) Wakeup() {
	if s.ep != nil {
		s.ep.Wakeup()
	}
}

// reach returns another process and its address, and connects with it first if that was
// not done before. What several goroutines make at once is the same.
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
		return s.ep.ConnectContext(ctx, p.place.NIC, p.place.Endpoint, p.place.Filter)
	})
	if err == nil {
		p.addr.Store(&addr)
	}
	return p, addr, err
}

// Watch blocks until the process is gone, and returns how that showed; or until ctx
// ends, or the service is closed, and returns why. A process that is only said to be gone is watched on.
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
