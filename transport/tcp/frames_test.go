//go:build linux

package tcp_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/transport"
	"gomx/transport/tcp"
	"gomx/transport/wire"
)

func pattern(n int, seed byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7+i>>8) ^ seed
	}
	return b
}

// exchange sends frames of many sizes both ways.
func exchange(t *testing.T, a, b *end) {
	t.Helper()
	sizes := []int{0, 1, 100, 5000, 8 << 10, 20_000, 70_000, tcp.MaxFrame}
	for _, c := range [][2]*end{{a, b}, {b, a}} {
		from, to, got := c[0], c[1], 0
		to.take = func(_ int32, h *wire.Header, payload []byte) bool {
			if want := sizes[got%len(sizes)]; int(h.Seq) != got || !bytes.Equal(payload, pattern(want, byte(got))) {
				t.Fatalf("frame %d of %d bytes came as number %d, want %d bytes", h.Seq, len(payload), got, want)
			}
			got++
			return true
		}
		for i := range 5 * len(sizes) {
			v := &wire.Vec{First: pattern(sizes[i%len(sizes)], byte(i))}
			h := wire.Header{Kind: wire.Eager, Seq: uint32(i), Length: uint32(len(v.First))}
			await(t, "room", func() bool { return from.link.Send(&h, v, 0) }, a, b)
		}
		await(t, "the frames", func() bool { return got == 5*len(sizes) }, a, b)
	}
}

// TestPush sends a large message as PullData through sockets of many sizes, from
// and to lists cut in many ways.
func TestPush(t *testing.T) {
	testlength.Long(t)
	t.Parallel() // small buffers wait for the system's delayed acknowledgements
	const size = 3 << 20
	for _, buffer := range []int{0, 4 << 10, 64 << 10} {
		for _, pieces := range []int{1, 3, 200} {
			t.Run(fmt.Sprintf("%d/%d", buffer, pieces), func(t *testing.T) {
				t.Parallel()
				near, far := joined(t, tcp.Options{SendBuffer: buffer, ReceiveBuffer: buffer})
				total := size
				if buffer == 4<<10 {
					total = 300 << 10
					if testing.Short() {
						total = 40 << 10 // the other side waits before it confirms so little
					}
				}
				p := newPush(total, pieces)
				far.place = func(*wire.Header) *wire.Vec { return p.to }
				far.take = func(_ int32, h *wire.Header, payload []byte) bool {
					far.landed = append(far.landed, *h)
					p.to.Scatter(int(h.Offset), payload)
					return true
				}
				p.run(t, near, far, nil)
				p.check(t)
			})
		}
	}
}

type push struct {
	from, to *wire.Vec
	want     []byte
	frames   int
}

func newPush(size, pieces int) *push {
	p := &push{want: pattern(size, 5)}
	p.from, p.to = cutEvenly(bytes.Clone(p.want), pieces), cutEvenly(make([]byte, size), pieces+1)
	return p
}

func cutEvenly(flat []byte, pieces int) *wire.Vec {
	v := &wire.Vec{}
	each := len(flat)/pieces + 1
	for i := 0; len(flat) > 0; i++ {
		n := min(each, len(flat))
		if part := flat[:n:n]; i == 0 {
			v.First = part
		} else {
			v.Rest = append(v.Rest, part)
		}
		flat = flat[n:]
	}
	return v
}

// run sends the message, and after each frame does what between says.
func (p *push) run(t *testing.T, near, far *end, between func()) {
	t.Helper()
	const piece = 200_000
	for off := 0; off < len(p.want); off += piece {
		h := wire.Header{
			Kind: wire.PullData, Flags: wire.HasRange,
			Length: uint32(min(piece, len(p.want)-off)), Offset: uint32(off),
		}
		await(t, "room", func() bool { return near.link.Send(&h, p.from, off) }, near, far)
		if p.frames++; between != nil {
			between()
		}
	}
	await(t, "the bytes", func() bool { return len(far.landed) == p.frames }, near, far)
}

func (p *push) check(t *testing.T) {
	t.Helper()
	got := make([]byte, len(p.want))
	if p.to.Gather(got, 0); !bytes.Equal(got, p.want) {
		t.Error("other bytes came")
	}
}

// TestReclaim overwrites the memory right after Reclaim, while the socket is full.
func TestReclaim(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	near, far := joined(t, tcp.Options{SendBuffer: 8 << 10, ReceiveBuffer: 8 << 10})
	p := newPush(600_000, 3)
	far.take = func(_ int32, h *wire.Header, payload []byte) bool {
		far.landed = append(far.landed, *h)
		p.to.Scatter(int(h.Offset), payload)
		return true
	}
	off := 0
	p.run(t, near, far, func() {
		near.link.Reclaim()
		off += 200_000
		p.from.Scatter(0, make([]byte, min(off, len(p.want))))
	})
	p.check(t)
}

// TestGoodbyeBehindData says goodbye while the socket is full of a large message. It is
// taken, and comes behind what was sent before.
func TestGoodbyeBehindData(t *testing.T) {
	for name, opt := range map[string]tcp.Options{"plain": {}, "TLS": {TLS: newAuthority(t).config()}} {
		t.Run(name, func(t *testing.T) {
			opt.SendBuffer, opt.ReceiveBuffer = 64<<10, 64<<10
			near, far := joined(t, opt)
			var kinds []wire.Kind
			far.take = func(_ int32, h *wire.Header, _ []byte) bool {
				kinds = append(kinds, h.Kind)
				return true
			}
			data := &wire.Vec{First: make([]byte, tcp.MaxFrame)}
			h := wire.Header{Kind: wire.PullData, Flags: wire.HasRange, Length: tcp.MaxFrame}
			sent := 0
			for ; sent < 1000 && near.link.Send(&h, data, 0); sent++ {
			}
			if !near.link.Send(&wire.Header{Kind: wire.Bye}, nil, 0) {
				t.Fatal("the link does not take a goodbye")
			}
			await(t, "the goodbye", func() bool { return len(kinds) == sent+1 }, near, far)
			if last := kinds[sent]; last != wire.Bye {
				t.Errorf("%v came last, want the goodbye", last)
			}
		})
	}
}

// TestPlaceTakenAway takes the place away while a payload is on its way. Nothing
// may be written there afterwards, and the next frame must come.
func TestPlaceTakenAway(t *testing.T) {
	e := open(t, loopback(home4, tcp.Options{}), 0)
	c := enter(t, e)
	place, users := make([]byte, 1000), false
	e.place = func(*wire.Header) *wire.Vec {
		if users {
			return nil
		}
		return &wire.Vec{First: place}
	}
	next := 0
	e.take = func(_ int32, h *wire.Header, _ []byte) bool {
		if h.Kind == wire.Notify {
			next++
		}
		return true
	}
	b := frame(wire.Header{Kind: wire.PullData, Flags: wire.HasRange}, string(pattern(1000, 1)))
	say(t, c, b[:500])
	await(t, "a part", func() bool { return place[100] != 0 }, e)
	users = true
	clear(place)
	say(t, c, append(b[500:], frame(wire.Header{Kind: wire.Notify}, "")...))
	await(t, "the next frame", func() bool { return next == 1 }, e)
	if !bytes.Equal(place, make([]byte, 1000)) || len(e.landed) != 0 {
		t.Error("the payload was written, or said to be, after its place was taken away")
	}
}

// TestHeldBack wants the first frame to leave at once, and so one after a pause, and the next ones together,
// asked for by Soon.
func TestHeldBack(t *testing.T) {
	near, far := joined(t, tcp.Options{})
	got := 0
	far.take = func(int32, *wire.Header, []byte) bool { got++; return true }
	h := wire.Header{Kind: wire.Eager}
	near.port.Poll(near)
	near.link.Send(&h, nil, 0)
	await(t, "the first frame", func() bool { return got == 1 }, far)
	time.Sleep(time.Millisecond)
	near.link.Send(&h, nil, 0)
	await(t, "the first frame after a pause, without a poll", func() bool { return got == 2 }, far)
	if near.soons != 0 {
		t.Error("a frame that left at once asked for a poll")
	}
	sent := 2
	for ; near.soons == 0 && sent < 1000; sent++ { // a busy machine makes pauses
		near.link.Send(&h, nil, 0)
	}
	for range 5 {
		near.link.Send(&h, nil, 0)
		sent++
	}
	if near.soons != 1 || near.port.Quiet() {
		t.Errorf("asked %d times for a poll, want once, and not quiet", near.soons)
	}
	await(t, "the others", func() bool { return got == sent }, near, far)
}

// TestHeldBackTooLong wants frames to leave at once, for a while, when the poll has come late for those that waited.
func TestHeldBackTooLong(t *testing.T) {
	near, far := joined(t, tcp.Options{})
	got, sent := 0, 0
	far.take = func(int32, *wire.Header, []byte) bool { got++; return true }
	send := func() {
		near.link.Send(&wire.Header{Kind: wire.Eager}, nil, 0)
		sent++
	}
	near.port.Poll(near)
	late := 0
	for late < tcp.LatePolls {
		for near.soons == late && sent < 10_000 { // a busy machine makes pauses
			send()
		}
		late = near.soons
		time.Sleep(time.Millisecond)
		near.port.(transport.Holder).Overdue()
		near.port.Poll(near)
	}
	for range 10 {
		send()
	}
	await(t, "all that was sent, without a poll", func() bool { return got == sent }, far)
	if near.soons != late {
		t.Errorf("asked %d times for a poll, want %d", near.soons, late)
	}
}

// TestManyLinks has one endpoint with a thousand idle peers, and measures what
// they cost beside their sockets.
func TestManyLinks(t *testing.T) {
	const peers = 1000
	e := open(t, loopback(home4, tcp.Options{}), 0)
	before := inUse()
	links := make([]transport.Link, 0, peers)
	counts := make([]int, peers)
	e.take = func(peer int32, h *wire.Header, _ []byte) bool { counts[peer]++; return true }
	conns := make([]interface{ Write([]byte) (int, error) }, peers)
	for i := range peers {
		c := call(t, e)
		hello := proper(transport.Address{NIC: stranger.NIC, Endpoint: uint32(i)}, e.self)
		say(t, c, append(hello.bytes(), make([]byte, proofSize)...))
		hear(t, c, greetingSize+verdictSize)
		l := e.accept()
		l.Bind(int32(i))
		links = append(links, l)
		conns[i] = c
	}
	for i, c := range conns {
		b := frame(wire.Header{Kind: wire.Eager}, "hello")
		_, _ = c.Write(append(b, b[:i%len(b)]...)) // and a part of another one
		_, _ = c.Write(b[i%len(b):])
	}
	await(t, "two frames of each", func() bool {
		for _, n := range counts {
			if n < 1 {
				return false
			}
		}
		return true
	}, e)
	h := wire.Header{Kind: wire.Eager}
	for _, l := range links {
		if !l.Send(&h, nil, 0) {
			t.Fatal("an idle link takes no frame")
		}
		l.Send(&h, nil, 0) // buffered

	}
	e.port.Poll(e)
	await(t, "quiet", e.port.Quiet, e)
	// The test's own ends of the connections are counted as well.
	each := (inUse() - before) / peers
	t.Logf("%d bytes a peer on the heap, both ends", each)
	if each > 8<<10 {
		t.Errorf("an idle peer costs %d bytes, want at most 8 KiB", each)
	}
	for _, l := range links {
		l.Close()
	}
}

func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

func openFDs(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("needs /proc:", err)
	}
	return len(all)
}

func TestNoDescriptorLeft(t *testing.T) {
	tr := loopback(home4, tcp.Options{})
	before := 0
	for round := range 4 {
		if round == 1 { // the first has opened what the process keeps, such as the descriptors of Go's network poller
			runtime.GC()
			before = openFDs(t)
		}
		a, b := open(t, tr, 0), open(t, tr, 1)
		a.dial(b.self)
		b.link = b.accept()
		a.link.Bind(0)
		b.link.Bind(0)
		exchange(t, a, b)
		for _, e := range []*end{a, b} {
			if err := e.port.Close(); err != nil {
				t.Error(err)
			}
			e.bell.Close()
		}
	}
	await(t, "the descriptors", func() bool { return openFDs(t) <= before })
}

// FuzzFrames cuts a stream of frames at places that the fuzzer chooses: the same
// frames must come as in one piece. With spoilt bytes the link may end, no more.
func FuzzFrames(f *testing.F) {
	f.Add([]byte{3, 0, 200, 7}, []byte{1, 24, 25, 200}, uint16(0), byte(0))
	f.Add([]byte{0, 5, 5, 5, 60}, []byte{23, 1, 1, 1, 1, 90}, uint16(0), byte(0))
	f.Add([]byte{9, 9, 9}, []byte{40}, uint16(26), byte(0xff))
	e := open(f, loopback(home4, tcp.Options{}), 0)
	f.Fuzz(func(t *testing.T, sizes, cuts []byte, at uint16, spoil byte) {
		e.t = t
		sizes, cuts = sizes[:min(len(sizes), 20)], cuts[:min(len(cuts), 30)]
		place := make([]byte, 256)
		var stream, want, got []byte
		for i, n := range sizes {
			h := wire.Header{Kind: wire.Kind(1 + i%11), Flags: wire.Flags(n) & 15, Seq: uint32(i)}
			payload := pattern(int(n), byte(i))
			if h.DropAbsent(); h.Kind == wire.PullData {
				h.Flags |= wire.HasRange
			}
			stream = append(stream, frame(h, string(payload))...)
			want = binary.LittleEndian.AppendUint32(want, uint32(i))
			want = append(want, payload...)
		}
		if spoil != 0 && len(stream) > 0 {
			stream[int(at)%len(stream)] ^= spoil
		}
		note := func(seq uint32, payload []byte) {
			got = binary.LittleEndian.AppendUint32(got, seq)
			got = append(got, payload...)
		}
		stops := 0
		e.place = func(h *wire.Header) *wire.Vec { return &wire.Vec{First: place} }
		e.take = func(_ int32, h *wire.Header, payload []byte) bool {
			note(h.Seq, payload)
			stops++
			return stops%5 != 0
		}
		e.land = func(h *wire.Header) { note(h.Seq, place[:h.Length]) }
		e.downs = nil
		c := enter(t, e)
		_ = c.SetNoDelay(true)
		for _, n := range append(cuts, 0) {
			k := min(int(n), len(stream))
			if n == 0 {
				k = len(stream)
			}
			say(t, c, stream[:k])
			stream = stream[k:]
			e.port.Poll(e)
		}
		_ = c.Close()
		await(t, "the end", func() bool { return e.down() != nil }, e)
		e.link.Close()
		if spoil == 0 && !bytes.Equal(got, want) {
			t.Fatalf("got\n%x, want\n%x", got, want)
		}
	})
}

// FuzzHello says anything to a port. It must answer or hang up, and go on to serve.
func FuzzHello(f *testing.F) {
	e := open(f, loopback(home4, tcp.Options{}), 0)
	hello := proper(stranger, e.self)
	f.Add(hello.bytes())
	f.Add(append(hello.bytes(), make([]byte, proofSize)...))
	hello.purpose = 0xf1f1
	f.Add(hello.bytes())
	f.Add([]byte("gomxtcp"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			return
		}
		e.t = t
		before := e.refused()
		c := call(t, e)
		say(t, c, b)
		_ = c.CloseWrite()
		over := make(chan []byte, 1)
		go func() {
			said, _ := io.ReadAll(c)
			over <- said
		}()
		await(t, "a refusal or a link", func() bool {
			select {
			case said := <-over:
				if isNotServed(said) {
					return true // which is no refusal that counts
				}
			default:
			}
			e.mu.Lock()
			defer e.mu.Unlock()
			return len(e.refusals) > before || len(e.accepted) > 0
		})
		for len(e.accepted) > 0 {
			e.accept().Close()
		}
	})
}

// isNotServed reports whether a port has answered that it does not serve a purpose.
func isNotServed(said []byte) bool {
	return len(said) == greetingSize && binary.LittleEndian.Uint16(said[14:]) == 7
}

// TestReaderComesAfterTheClose has the peer read only after Close has waited in vain, and answer what it reads.
// All that the link has taken comes before the end.
func TestReaderComesAfterTheClose(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	for name, opt := range map[string]tcp.Options{"plain": {}, "TLS": {TLS: newAuthority(t).config()}} {
		t.Run(name, func(t *testing.T) {
			opt.SendBuffer, opt.ReceiveBuffer = 64<<10, 64<<10
			near, far := joined(t, opt)
			data := &wire.Vec{First: make([]byte, 1<<10)}
			h := wire.Header{Kind: wire.Eager, Length: 1 << 10}
			sent, got := 0, 0
			for ; sent < 100_000 && near.link.Send(&h, data, 0); sent++ {
			}
			if err := near.port.Close(); err != nil {
				t.Fatal(err)
			}
			far.take = func(int32, *wire.Header, []byte) bool {
				got++
				far.link.Send(&wire.Header{Kind: wire.Notify}, nil, 0)
				return true
			}
			await(t, "the end", func() bool { return far.down() != nil }, far)
			if got != sent {
				t.Errorf("%d frames were taken, and %d came", sent, got)
			}
		})
	}
}

// TestRefusedSend has the system refuse to send on a connection that stands. The link ends at both sides, behind what had come.
func TestRefusedSend(t *testing.T) {
	near, far := joined(t, tcp.Options{})
	got := 0
	near.take = func(int32, *wire.Header, []byte) bool { got++; return true }
	far.link.Send(&wire.Header{Kind: wire.Notify}, nil, 0)
	far.port.Poll(far)
	tcp.Refuse(near.link, syscall.ENOBUFS)
	await(t, "the end at this side", func() bool { return near.down() != nil }, near)
	if err := near.down(); !errors.Is(err, syscall.ENOBUFS) || got != 1 {
		t.Errorf("ended with %v, after %d frames", err, got)
	}
	await(t, "the end at the other", func() bool { return far.down() != nil }, far)
}
