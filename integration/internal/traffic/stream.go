package traffic

import (
	"fmt"
	"time"

	"gomx/mx"
)

// kind is a stream's shape.
type kind struct {
	lengths []int
	longest int
	window  int  // how many requests are under way
	lists   bool // in pieces, in all kinds of memory
}

var kinds = map[Sizes]kind{
	Small: {[]int{8}, 8, 256, false},
	Mixed: {[]int{8, 0, 100, 1023, 5000, 8, 33_000, 1, 70_000, 8, 8, 200_000, 40, 8, 4096, 64}, 200_000, 32, false},
	Large: {[]int{150_000}, 150_000, 8, false},
	All:   {allLengths(), 1 << 20, 16, true},
}

// allLengths are mostly short: of 256 messages one has a MiB.
func allLengths() (all []int) {
	few := []int{8, 0, 1, 39, 8, 40, 41, 256, 8, 1000, 64, 4096, 8, 8000, 8, 24}
	for i := range 256 {
		n := few[i%len(few)]
		switch i {
		case 250:
			n = 1 << 20
		case 60, 180:
			n = 200_001
		case 20, 90, 150, 210:
			n = 70_000
		default:
			if i%16 == 14 {
				n = 32<<10 - 1 + i/16%3
			}
		}
		all = append(all, n)
	}
	return all
}

func (k kind) length(i int) int { return k.lengths[i%len(k.lengths)] }

// acked says which messages are to be acknowledged: each so many-th.
const acked = 7

// shifts is how many different contents there are of each length.
const shifts = 256

// patience bounds the wait for one message of a stream that is under way. It is
// less than that of the parent, so that the child says what is missing.
const patience = 80 * time.Second

// contents returns bytes of which message i of a stream is the part from
// i%shifts on.
func contents(longest int) []byte {
	b := make([]byte, longest+shifts)
	for i := range b {
		b[i] = byte(i*167) ^ byte(i>>8)
	}
	return b
}

// stream sends messages 0, 1, 2 ... to one peer. Their match information is
// their number.
func (p *peer) stream(to mx.EndpointAddr, count int, s Sizes) error {
	k := kinds[s]
	text := contents(k.longest)
	send := func(i int) (mx.Request, error) {
		b := text[i%shifts:][:k.length(i)]
		if i%acked == acked-1 {
			return p.ep.IsendAcked(b, to, uint64(i), nil)
		}
		return p.ep.Isend(b, to, uint64(i), nil)
	}
	if k.lists {
		l := lists{p: p}
		defer l.free()
		copies := l.copies(text)
		send = func(i int) (mx.Request, error) {
			level := mx.SendBuffered
			if i%acked == acked-1 {
				level = mx.SendAcked
			}
			return p.ep.IsendLevel(level, cut(nil, &copies, i%shifts, k.length(i), i), to, uint64(i), nil)
		}
	}
	under := make([]mx.Request, k.window)
	for i := range count + k.window {
		if i >= k.window {
			if err := p.sent(under[i%k.window], i-k.window, count); err != nil {
				return err
			}
		}
		if i < count {
			r, err := send(i)
			if err != nil {
				return err
			}
			under[i%k.window] = r
		}
	}
	return nil
}

// sent waits for the send of message i.
func (p *peer) sent(r mx.Request, i, count int) error {
	st, done, err := p.ep.Wait(r, patience)
	switch {
	case err != nil:
		return err
	case !done:
		return fmt.Errorf("the send of message %d of %d is still pending after %v", i, count, patience)
	case st.Code != mx.StatusSuccess:
		return fmt.Errorf("the send of message %d of %d: %w", i, count, st.Err())
	}
	return nil
}

// inbox receives streams, and knows what each source must send next.
type inbox struct {
	p       *peer
	k       kind
	text    []byte
	buffers [][][]byte // in pieces
	next    map[mx.EndpointAddr]int
}

// sink receives the streams of some sources.
func (p *peer) sink(sources, count int, s Sizes) error {
	k := kinds[s]
	in := inbox{p, k, contents(k.longest), make([][][]byte, k.window), map[mx.EndpointAddr]int{}}
	l := lists{p: p}
	defer l.free()
	posted := make([]mx.Request, k.window)
	total := sources * count
	post := func(i int) (err error) {
		if b := in.buffers[i%k.window]; len(b) == 1 {
			posted[i%k.window], err = p.ep.Irecv(b[0], 0, nobodys, nil)
		} else {
			posted[i%k.window], err = p.ep.Irecvv(b, 0, nobodys, nil)
		}
		return err
	}
	for i := range min(k.window, total) {
		if k.lists {
			in.buffers[i] = l.pieces(k.longest, i)
		} else {
			in.buffers[i] = [][]byte{make([]byte, k.longest)}
		}
		if err := post(i); err != nil {
			return err
		}
	}
	for i := range total {
		if err := in.take(posted[i%k.window], in.buffers[i%k.window]); err != nil {
			return fmt.Errorf("message %d of %d: %w", i, total, err)
		}
		if i+k.window < total {
			if err := post(i + k.window); err != nil {
				return err
			}
		}
	}
	return in.finish(sources, count)
}

// take waits for one receive and checks what came.
func (in *inbox) take(r mx.Request, b [][]byte) error {
	st, done, err := in.p.ep.Wait(r, patience)
	switch {
	case err != nil:
		return err
	case !done:
		return fmt.Errorf("did not come within %v; have %v", patience, in.next)
	case st.Code != mx.StatusSuccess:
		return st.Err()
	}
	i := in.next[st.Source]
	in.next[st.Source] = i + 1
	switch {
	case st.MatchInfo != uint64(i):
		return fmt.Errorf("number %d of %v came where %d was due", st.MatchInfo, st.Source, i)
	case int(st.XferLength) != in.k.length(i) || st.MsgLength != st.XferLength:
		return fmt.Errorf("number %d of %v has %d of %d bytes, not %d", i, st.Source, st.XferLength, st.MsgLength, in.k.length(i))
	}
	if wrong := differ(b, in.text[i%shifts:][:st.XferLength]); wrong != "" {
		return fmt.Errorf("number %d of %v, %d bytes, is damaged: %s", i, st.Source, st.XferLength, wrong)
	}
	return nil
}

// finish checks that each source has sent its part, and nothing besides.
func (in *inbox) finish(sources, count int) error {
	if len(in.next) != sources && count > 0 {
		return fmt.Errorf("messages of %d sources, not %d", len(in.next), sources)
	}
	if st, more, err := in.p.ep.Probe(20*time.Millisecond, 0, nobodys); more || err != nil {
		return fmt.Errorf("one message too many: number %d of %v (%v)", st.MatchInfo, st.Source, err)
	}
	return nil
}

func (p *peer) duplex(with mx.EndpointAddr, count int, s Sizes) {
	sent := make(chan error, 1)
	go func() { sent <- p.stream(with, count, s) }()
	p.check(p.sink(1, count, s))
	p.check(<-sent)
	p.Say("sunk")
}

// drain receives everything from now on, whatever becomes of it.
func (p *peer) drain() {
	const window = 16
	var posted [window]mx.Request
	var buffers [window][]byte
	receive := func(i int) {
		r, err := p.ep.Irecv(buffers[i], 0, nobodys, nil)
		p.check(err)
		posted[i] = r
	}
	for i := range posted {
		buffers[i] = make([]byte, kinds[Mixed].longest)
		receive(i)
	}
	go func() {
		for i := 0; ; i = (i + 1) % window {
			_, _, err := p.ep.Wait(posted[i], mx.Infinite)
			p.check(err)
			receive(i)
		}
	}()
	p.Say("draining")
}

// storm sends until a message fails.
func (p *peer) storm(to mx.EndpointAddr, s Sizes) {
	k := kinds[s]
	text := contents(k.longest)
	p.Say("storming")
	under := make([]mx.Request, k.window)
	for i := 0; ; i++ {
		slot := i % k.window
		if i >= k.window {
			st, done, err := p.ep.Wait(under[slot], patience)
			p.check(err)
			if !done {
				p.Fail(fmt.Errorf("a send is still pending after %v", patience))
			}
			if st.Code != mx.StatusSuccess {
				p.finishStorm(under, slot, st.Code)
				return
			}
		}
		r, err := p.ep.Isend(text[:k.length(i)], to, uint64(i), nil)
		p.check(err)
		under[slot] = r
	}
}

// finishStorm collects what is left of a storm after the request in one slot.
func (p *peer) finishStorm(under []mx.Request, slot int, code mx.StatusCode) {
	for i := 1; i < len(under); i++ {
		_, done, err := p.ep.Wait(under[(slot+i)%len(under)], patience)
		p.check(err)
		if !done {
			p.Fail(fmt.Errorf("a send is still pending %v after another one failed", patience))
		}
	}
	p.Say("over: %v", code)
}
