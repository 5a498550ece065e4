//go:build linux

package processes_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"gomx/integration/internal/proc"
	"gomx/mx"
)

// What a partner and the table of calls do with each other. Of each there are two: one request is kept, the other one given up.
const (
	opRecv      = iota // the partner sends it at the end
	opTied             // the same, tied to the partner
	opLarge            // a large message, which is under way
	opPushed           // a large message to the partner, which is under way
	opSync             // a synchronous message, which the partner receives at the end
	opPut              // into a window of the partner
	opGet              // out of another one
	opWatch            // of the session
	opConnect          // to another endpoint of the partner
	opTriggered        // a message to the partner whose trigger does not come
	opEnd

	opLater = opEnd     // a message that nobody has a request for
	opNoise = opEnd + 1 // small messages that want no time
)

const (
	pairs       = 2
	mostBytes   = 6 << 20 // of a large message
	smallBytes  = 500
	spareBytes  = 64 // of the partner's window for puts, behind what the requests put there
	trickleTime = 10 * time.Millisecond
)

// largeOf is the length of large messages over a medium: more than a receiver asks for at a time.
func largeOf(media string) int {
	if media == "tcp" {
		return mostBytes
	}
	return 1 << 20
}

// bitsOf are the match bits of one of the two requests or messages of a kind.
func bitsOf(round, op, of int) uint64 { return uint64(round)<<16 | uint64(op)<<8 | uint64(of) }

// ofRound are the bits that tell the rounds from each other.
const ofRound = ^uint64(0xffff)

var patterns = sync.OnceValue(func() []byte {
	b := make([]byte, mostBytes+1<<16)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b)
	return b
})

// pattern is what the bytes of a message or of a part of a window must be. It is not to be written to.
func pattern(bits uint64, length int) []byte {
	from := int(bits>>16*31+bits>>8&0xff*7+bits&0xff) % (1 << 16)
	return patterns()[from : from+length]
}

// partner is a process that does its part in steps that its parent asks for.
type partner struct {
	c        *proc.Child
	ep       *mx.Endpoint
	to       mx.EndpointAddr
	stranger *mx.Endpoint // whom the parent connects to
	large    int
	round    int
	requests []mx.Request
	received [pairs][]byte
	put, get *mx.Window
	stop     chan struct{} // ends the trickle
	stopped  chan struct{}
}

func partners(c *proc.Child) {
	p := &partner{c: c, large: int(c.Number(1))}
	p.ep, p.to = openChild(c, mx.AnyEndpoint, c.Number(0))
	p.stranger = must1(c)(mx.OpenEndpoint(0, mx.AnyEndpoint, filter))
	c.Say("ready %d", p.ep.ID())
	c.Say("stranger %d", p.stranger.ID())
	for {
		var order, arg string
		_, _ = fmt.Sscan(c.Hear(), &order, &arg)
		var n int
		_, _ = fmt.Sscan(arg, &n)
		switch order {
		case "begin":
			p.begin(n)
		case "hold":
			p.hold()
			c.Say("held")
		case "pass":
			p.pass(n)
			c.Say("passed")
		case "trickle":
			p.trickle()
			c.Say("trickles")
		case "use":
			p.use(arg)
		case "finish":
			p.finish(n)
		case "release":
			p.release()
			c.Say("released")
		}
	}
}

func must1(c *proc.Child) func(*mx.Endpoint, error) *mx.Endpoint {
	return func(ep *mx.Endpoint, err error) *mx.Endpoint {
		if err != nil {
			c.Fail(err)
		}
		return ep
	}
}

func (p *partner) started(r mx.Request, err error) {
	if err != nil {
		p.c.Fail(err)
	}
	p.requests = append(p.requests, r)
}

func (p *partner) window(op int, bytes int) *mx.Window {
	var b []byte
	for of := range pairs {
		b = append(b, pattern(bitsOf(p.round, op, of), bytes)...)
	}
	w, err := p.ep.OpenWindow(append(b, make([]byte, spareBytes)...), mx.WindowRead|mx.WindowWrite)
	if err != nil {
		p.c.Fail(err)
	}
	return w
}

// begin begins a round, and makes no progress from then on.
func (p *partner) begin(round int) {
	p.round, p.requests = round, p.requests[:0]
	for of := range pairs {
		p.started(p.ep.Isend(pattern(bitsOf(round, opLarge, of), p.large), p.to, bitsOf(round, opLarge, of), nil))
		p.received[of] = make([]byte, p.large)
		p.started(p.ep.Irecv(p.received[of], bitsOf(round, opPushed, of), mx.MatchMaskNone, nil))
	}
	p.put, p.get = p.window(opPut+opEnd, p.large), p.window(opGet, p.large)
	for range 3 { // the headers leave
		_ = p.ep.Progress()
	}
	p.hold()
	p.c.Say("put %s", hexOf(p.put))
	p.c.Say("get %s", hexOf(p.get))
}

func hexOf(w *mx.Window) string {
	b, _ := w.Handle().MarshalBinary()
	return hex.EncodeToString(b)
}

func handleOf(text string) (h mx.WindowHandle, err error) {
	b, err := hex.DecodeString(text)
	if err == nil {
		err = h.UnmarshalBinary(b)
	}
	return h, err
}

func (p *partner) both(f func(ep *mx.Endpoint) error) {
	for _, ep := range []*mx.Endpoint{p.ep, p.stranger} {
		if err := f(ep); err != nil {
			p.c.Fail(err)
		}
	}
}

func (p *partner) hold() { p.both((*mx.Endpoint).DisableProgression) }

func (p *partner) pass(n int) {
	for range n {
		if err := p.ep.ReenableProgression(); err != nil {
			p.c.Fail(err)
		}
		if err := p.ep.DisableProgression(); err != nil {
			p.c.Fail(err)
		}
	}
}

// trickle makes a pass now and then.
func (p *partner) trickle() {
	p.stop, p.stopped = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(p.stopped)
		for {
			select {
			case <-p.stop:
				return
			case <-time.After(trickleTime):
				p.pass(1)
			}
		}
	}()
}

func (p *partner) release() {
	if p.stop != nil {
		close(p.stop)
		<-p.stopped
		p.stop = nil
	}
	p.both((*mx.Endpoint).ReenableProgression)
}

// use writes into a window of the parent's and reads it, until that refuses.
func (p *partner) use(text string) {
	h, err := handleOf(text)
	if err != nil {
		p.c.Fail(err)
	}
	p.c.Say("uses")
	in, out := make([]byte, h.Length), pattern(1, int(h.Length))
	refused := 0
	for refused < 2 {
		refused = 0
		put, err := p.ep.Iput(out, p.to, h, 0, 1, nil)
		get, err2 := p.ep.Iget(in, p.to, h, 0, 1, nil)
		if err := errors.Join(err, err2); err != nil {
			p.c.Fail(err)
		}
		for _, r := range []mx.Request{put, get} {
			switch st := done(p.c, p.ep, r, nil); st.Code {
			case mx.StatusBadRDMAWindow:
				refused++
			case mx.StatusSuccess:
			default:
				p.c.Fail(st.Err())
			}
		}
	}
	p.c.Say("refused")
}

// finish does the rest of the round, and looks whether all was right.
func (p *partner) finish(noise int) {
	p.release()
	for _, op := range []int{opRecv, opTied, opLater} {
		for of := range pairs {
			bits := bitsOf(p.round, op, of)
			p.started(p.ep.Isend(pattern(bits, smallBytes), p.to, bits, nil))
		}
	}
	small := make([]byte, smallBytes)
	receive := func(bits uint64, length int) {
		r, err := p.ep.Irecv(small, bits, mx.MatchMaskNone, nil)
		if st := done(p.c, p.ep, r, err); st.Code != mx.StatusSuccess || !bytes.Equal(small[:st.XferLength], pattern(bits, length)) {
			p.c.Fail(fmt.Errorf("message %#x of %d bytes is wrong: %v", bits, st.XferLength, st.Code))
		}
	}
	for of := range pairs {
		receive(bitsOf(p.round, opSync, of), smallBytes)
	}
	for range noise {
		receive(bitsOf(p.round, opNoise, 0), 8)
	}
	for i, r := range p.requests {
		if st := done(p.c, p.ep, r, nil); st.Code != mx.StatusSuccess {
			p.c.Fail(fmt.Errorf("request %d of round %d: %w", i, p.round, st.Err()))
		}
	}
	for of := range pairs {
		if !bytes.Equal(p.received[of], pattern(bitsOf(p.round, opPushed, of), p.large)) {
			p.c.Fail(fmt.Errorf("large message %d of round %d is wrong", of, p.round))
		}
	}
	p.c.Say("done")
	p.c.Hear() // the parent knows when the puts are over
	var want []byte
	for of := range pairs {
		want = append(want, pattern(bitsOf(p.round, opPut, of), p.large)...)
	}
	if puts, _, _ := p.put.Poll(); !bytes.HasPrefix(p.put.Bytes(), want) {
		p.c.Fail(fmt.Errorf("what was put is wrong, after %d puts", puts))
	}
	if err := errors.Join(p.put.Close(), p.get.Close()); err != nil {
		p.c.Fail(err)
	}
	if left := p.ep.Pending(); len(left) > 0 {
		p.c.Fail(fmt.Errorf("requests are left: %s", strings.ReplaceAll(fmt.Sprint(left), "\n", " ")))
	}
	p.c.Say("right")
}
