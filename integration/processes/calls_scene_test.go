//go:build linux

package processes_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"gomx/integration/internal/proc"
	"gomx/mx"
)

// What a peer does while a call waits for it.
const (
	isStopped = "stopped"
	isSlow    = "slow" // it makes a pass now and then, and goes on later
	isKilled  = "killed"
)

// asked is how long calls are asked to wait, and inTime when they must have returned, however busy the machine is.
var asked = 50 * time.Millisecond

const inTime = promise

// canary is what memory holds that nobody may write to.
const canary = 0xa5

// errand is a request that is under way while a call waits.
type errand struct {
	op, of int
	bits   uint64
	r      mx.Request
	buf    []byte // that is received into
	done   bool   // a call has collected it
	st     mx.Status
	fate   mx.Fate
	gone   bool // another call than Abandon has taken it away, or another goroutine
}

// kept reports whether the errand is waited for at the end. The others are given up.
func (e *errand) kept() bool { return e.of == 0 }

func (e *errand) String() string {
	name := [...]string{"recv", "tied", "pulled", "pushed", "sync", "put", "get", "watch", "connect", "triggered"}[e.op]
	if e.done {
		return fmt.Sprintf("%s %d (%v)", name, e.of, e.st.Code)
	}
	return fmt.Sprintf("%s %d", name, e.of)
}

// scene is an endpoint with a partner, which is stopped, slow or killed again and again.
type scene struct {
	t        testing.TB
	media    string
	peer     string
	ep       *mx.Endpoint
	other    *mx.Endpoint // without peers
	nic      uint64
	large    int // bytes of a large message
	child    *proc.Process
	to       mx.EndpointAddr
	id       uint32
	stranger uint32
	round    int

	mu      sync.Mutex
	errands []*errand
	memory  []byte // that the errands are in, with canaries between
	put     mx.WindowHandle
	get     mx.WindowHandle
	counter *mx.CompletionCounter
	noise   int // small messages that the partner has to receive
}

// meet starts a partner.
func (s *scene) meet() {
	s.t.Helper()
	s.child = proc.StartWith(s.t, proc.Options{Env: []string{transportKey + "=" + s.media}}, "partner", s.ep.ID(), s.large)
	s.id, s.stranger = s.child.HearNumber("ready"), s.child.HearNumber("stranger")
	s.to = connect(s.t, s.ep, s.id)
}

// begin begins all requests of a round, with a partner that makes no progress but what is asked for, and returns when they are under way.
func (s *scene) begin() {
	s.t.Helper()
	s.round++
	s.noise = 0
	s.child.Say("begin %d", s.round)
	s.put, s.get = must[mx.WindowHandle](s.t)(handleOf(s.child.Hear("put"))), must[mx.WindowHandle](s.t)(handleOf(s.child.Hear("get")))
	s.errands, s.memory = nil, bytes.Repeat([]byte{canary}, pairs*(2*s.large+2*smallBytes+8*spareBytes))
	free := s.memory[spareBytes:]
	s.counter = must[*mx.CompletionCounter](s.t)(s.ep.NewCompletionCounter())
	for op := range opEnd {
		for of := range pairs {
			e := &errand{op: op, of: of, bits: bitsOf(s.round, op, of)}
			if n := s.receives(op); n > 0 {
				e.buf, free = free[:n:n], free[n+spareBytes:]
			}
			e.r = must[mx.Request](s.t)(s.start(e))
			s.errands = append(s.errands, e)
		}
	}
	for passes := 0; !s.matched(); passes++ {
		if passes > 1000 {
			s.t.Fatalf("the requests do not get under way: %v", s.ep.Pending())
		}
		time.Sleep(time.Millisecond)
	}
	s.child.Say("pass 1")
	s.child.Hear("passed")
}

// receives is how many bytes a request receives.
func (s *scene) receives(op int) int {
	switch op {
	case opRecv, opTied:
		return smallBytes
	case opLarge, opGet:
		return s.large
	}
	return 0
}

func (s *scene) start(e *errand) (mx.Request, error) {
	switch e.op {
	case opTied:
		return s.ep.IrecvFrom(e.buf, s.to, e.bits, mx.MatchMaskNone, nil)
	case opPushed:
		return s.ep.Isend(pattern(e.bits, s.large), s.to, e.bits, nil)
	case opSync:
		return s.ep.Issend(pattern(e.bits, smallBytes), s.to, e.bits, nil)
	case opPut:
		return s.ep.Iput(pattern(e.bits, s.large), s.to, s.put, uint32(e.of*s.large), e.bits, nil)
	case opGet:
		return s.ep.Iget(e.buf, s.to, s.get, uint32(e.of*s.large), e.bits, nil)
	case opWatch:
		return s.ep.Watch(s.to, e.bits, nil)
	case opTriggered:
		return s.counter.At(1).Isend(pattern(e.bits, smallBytes), s.to, e.bits, nil)
	case opConnect:
		return s.ep.Iconnect(board(s.t), s.stranger, filter, e.bits, nil)
	}
	return s.ep.Irecv(e.buf, e.bits, mx.MatchMaskNone, nil)
}

// matched reports whether the large messages of the partner have matched.
func (s *scene) matched() bool {
	_ = s.ep.Progress()
	for _, p := range s.ep.Pending() {
		if p.Bytes == uint32(s.large) && p.Kind == "recv" && p.Stage == "waits for its match" {
			return false
		}
	}
	return true
}

// leave has the partner do what the scene is about. A killed one is killed while the call waits.
func (s *scene) leave() {
	s.t.Helper()
	switch s.peer {
	case isStopped:
		s.child.Stop()
	case isSlow:
		s.child.Say("trickle")
		s.child.Hear("trickles")
	}
}

// resume lets the partner go on.
func (s *scene) resume() { s.child.Signal(syscall.SIGCONT) }

// undone are the errands that no call has collected.
func (s *scene) undone() (list []*errand, reqs []mx.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.errands {
		if !e.done && !e.gone {
			list, reqs = append(list, e), append(reqs, e.r)
		}
	}
	return list, reqs
}

// collected notes that a call has collected what fits.
func (s *scene) collected(st mx.Status, fits func(e *errand) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.errands {
		if fits(e) && !e.done {
			e.done, e.st = true, st
			return nil
		}
	}
	return fmt.Errorf("a request was collected that was not under way: %v, match %#x", st.Code, st.MatchInfo)
}

func (s *scene) gotRequest(r mx.Request, st mx.Status) error {
	return s.collected(st, func(e *errand) bool { return e.r == r })
}

func (s *scene) gotBits(st mx.Status) error {
	return s.collected(st, func(e *errand) bool { return e.bits == st.MatchInfo })
}

// giveUp abandons every second request that is not complete.
func (s *scene) giveUp() {
	s.t.Helper()
	for _, e := range s.errands {
		if e.done || e.gone || e.kept() {
			continue
		}
		var err error
		if e.fate, e.st, err = s.ep.Abandon(e.r); err != nil {
			s.t.Fatalf("abandon %v: %v", e, err)
		}
		if e.done = e.fate == mx.FateEnded; !e.done && s.peer == isStopped && e.fate != fateOf(e.op) {
			s.t.Errorf("abandon %v: %v, want %v", e, e.fate, fateOf(e.op))
		}
		if _, _, err := s.ep.Test(e.r); !errors.Is(err, mx.ErrBadRequest) {
			s.t.Errorf("%v after it was abandoned: %v", e, err)
		}
	}
}

// fateOf is what becomes of a request that is given up while its peer does nothing.
func fateOf(op int) mx.Fate {
	switch op {
	case opRecv, opTied, opWatch, opConnect, opTriggered:
		return mx.FateCancelled
	}
	return mx.FateInUse
}

// settle lets the partner go on, if it lives, and looks at all that has become of the requests.
func (s *scene) settle() {
	s.t.Helper()
	lives := s.peer != isKilled
	if lives {
		s.resume()
		s.child.Say("finish %d", s.noise)
	}
	for _, e := range s.errands {
		s.end(e, lives)
	}
	if lives {
		s.rest()
	}
	s.nothingPending(s.ep)
	s.counter.Close()
	s.canaries()
	if !lives {
		return
	}
	s.child.Say("puts are over")
	s.child.Hear("right")
	if st, found, err := s.ep.Iprobe(0, 0); found || err != nil {
		s.t.Errorf("a message is left: %#x %v", st.MatchInfo, err)
	}
}

// end waits for a request that was kept, and looks whether it is right.
func (s *scene) end(e *errand, lives bool) {
	s.t.Helper()
	if !e.done && !e.kept() {
		return
	}
	if !e.done && ((e.op == opWatch || e.op == opTriggered) && lives || e.op == opRecv && !lives) {
		if taken, err := s.ep.Cancel(e.r); !taken || err != nil {
			s.t.Errorf("%v can't be cancelled: %v %v", e, taken, err)
		}
		return
	}
	if !e.done {
		if e.st, e.done, _ = s.ep.Wait(e.r, 20*time.Second); !e.done {
			s.t.Fatalf("%v does not end: %v", e, s.ep.Pending())
		}
	}
	switch ok := e.st.Code == mx.StatusSuccess; {
	case lives && !ok:
		s.t.Errorf("%v: %v", e, e.st.Code)
	case !lives && ok && (e.op == opTied || e.op == opSync || e.op == opWatch || e.op == opTriggered):
		s.t.Errorf("%v has succeeded though the partner has died", e)
	case ok && e.buf != nil && !bytes.Equal(e.buf, pattern(e.bits, len(e.buf))):
		s.t.Errorf("%v: the bytes are wrong", e)
	}
}

// rest receives what the partner has sent that no request has taken, and ends the session with the stranger.
func (s *scene) rest() {
	s.t.Helper()
	for _, e := range s.errands {
		if e.fate == mx.FateCancelled && e.buf != nil {
			s.receive(e.bits, len(e.buf))
		}
	}
	for of := range pairs {
		s.receive(bitsOf(s.round, opLater, of), smallBytes)
	}
	s.child.Hear("done")
	stranger := must[mx.EndpointAddr](s.t)(s.ep.Connect(board(s.t), s.stranger, filter, 20*time.Second))
	if err := s.ep.Disconnect(stranger); err != nil {
		s.t.Error(err)
	}
}

// receive receives a message with every way to look for one first.
func (s *scene) receive(bits uint64, length int) {
	s.t.Helper()
	if _, found, err := s.ep.Probe(20*time.Second, bits, mx.MatchMaskNone); !found || err != nil {
		s.t.Fatalf("message %#x does not come: %v", bits, err)
	}
	m, _, found, err := s.ep.Claim(context.Background(), 0, bits, mx.MatchMaskNone)
	if !found || err != nil {
		s.t.Fatalf("message %#x can't be claimed: %v", bits, err)
	}
	in := make([]byte, length)
	st := finish(s.t, s.ep, must[mx.Request](s.t)(s.ep.IrecvMessage(in, m, nil)))
	if st.Code != mx.StatusSuccess || !bytes.Equal(in, pattern(bits, length)) {
		s.t.Errorf("message %#x: %v, %d bytes", bits, st.Code, st.XferLength)
	}
}

// nothingPending waits until no request of an endpoint is under way.
func (s *scene) nothingPending(ep *mx.Endpoint) {
	s.t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		left := ep.Pending()
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("requests are left: %v", left)
		}
	}
}

// canaries looks at the memory around that of the requests, and at that of receives that were cancelled.
func (s *scene) canaries() {
	s.t.Helper()
	free := s.memory
	look := func(b []byte, what any) {
		if !bytes.Equal(b, bytes.Repeat([]byte{canary}, len(b))) {
			s.t.Errorf("memory was written to %v", what)
		}
	}
	for _, e := range s.errands {
		if e.buf == nil {
			continue
		}
		look(free[:spareBytes], fmt.Sprint("before that of ", e))
		if e.fate == mx.FateCancelled {
			look(e.buf, fmt.Sprint("of ", e, ", which was cancelled"))
		}
		free = free[spareBytes+len(e.buf):]
	}
	look(free, "behind all")
}
