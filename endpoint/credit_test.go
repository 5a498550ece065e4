package endpoint_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"gomx/endpoint"
	"gomx/endpoint/endpointtest"
	"gomx/internal/testlength"
	"gomx/transport/wire"
)

// flooded is a world in which a number of endpoints have sent more to one, "b", than
// that takes, while it receives nothing.
type flooded struct {
	w       *endpointtest.World
	b       *endpointtest.Node
	senders []*endpointtest.Node
	sends   [][]endpoint.Handle
}

func flood(t *testing.T, caps wire.Caps, cfg endpoint.Config, senders, messages, size int) *flooded {
	t.Helper()
	f := &flooded{w: &endpointtest.World{Caps: caps}}
	f.w.Pulls = endpointtest.PullMode(0)
	f.b = f.w.Add("b", cfg)
	for i := range senders {
		n := f.w.Add(fmt.Sprint("s", i), endpoint.Config{EagerLimit: -1, CopyLimit: -1, Session: uint32(1000 * (i + 2))})
		f.senders = append(f.senders, n)
		n.Connect(f.b, 0, 0)
	}
	f.settle()
	for _, n := range f.senders {
		var sends []endpoint.Handle
		for i := range messages {
			sends = append(sends, f.send(t, n, f.b, size, uint64(i), endpoint.BufferFree))
		}
		f.sends = append(f.sends, sends)
	}
	f.settle()
	return f
}

// settle lets everything happen that can, over media that take some time for it too.
func (f *flooded) settle() {
	for range 200 {
		f.w.Run()
		due := endpoint.Never
		for _, n := range f.w.Nodes {
			due = min(due, n.Engine.NextDue())
		}
		if due == endpoint.Never || due > f.w.Now+2000 {
			return
		}
		f.w.Tick(max(1, due-min(due, f.w.Now)))
	}
}

func (f *flooded) send(t *testing.T, from, to *endpointtest.Node, size int, match uint64, level endpoint.Level) endpoint.Handle {
	t.Helper()
	addr, ok := from.Engine.AddrOf(from.PeerOf(to))
	if !ok {
		t.Fatal("not connected")
	}
	h, err := from.Engine.Send(&endpoint.Outgoing{First: make([]byte, size), To: addr, Match: match}, &endpoint.SendOptions{Level: level})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (f *flooded) recv(t *testing.T, at *endpointtest.Node, size int, value, mask uint64) endpoint.Handle {
	t.Helper()
	h, err := at.Engine.Recv(&endpoint.Posting{First: make([]byte, size), Value: value, Mask: mask}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func done(t *testing.T, what string, at *endpointtest.Node, h endpoint.Handle) {
	t.Helper()
	var st endpoint.Status
	if ok, err := at.Engine.Test(h, &st); !ok || err != nil || st.Code != endpoint.Success {
		t.Errorf("%s: done %v, %v, %v\n%.2000s", what, ok, err, st.Code, at.Engine.DumpState())
	}
}

var small = endpoint.Config{EagerLimit: -1, CopyLimit: -1, Session: 1, UnexpectedBytes: 8 << 10, UnexpectedHeaders: 200}

const exactly = ^uint64(0)

func media() map[string]wire.Caps {
	return map[string]wire.Caps{
		"safe": endpointtest.Reliable(false), "safe, pulling": endpointtest.Reliable(true),
		"healing": endpointtest.Healing(false), "lossy": endpointtest.Lossy(false),
	}
}

// TestOnlyMessagesWaitForCredit: while messages of a peer wait for somebody to receive
// them, everything else goes on with it in both directions.
func TestOnlyMessagesWaitForCredit(t *testing.T) {
	for name, caps := range media() {
		t.Run(name, func(t *testing.T) {
			f := flood(t, caps, small, 1, 3000, 100)
			a, b := f.senders[0], f.b
			if a.Engine.Backlog() {
				t.Error("the sender is busy with what it can't send")
			}
			waiting := 0
			list, _ := a.Engine.Outstanding(1 << 20)
			for _, o := range list {
				if o.Stage == "waits for the peer to receive: no message credit" {
					waiting++
				}
			}
			if waiting == 0 {
				t.Error("no send says that it waits for credit")
			}
			again, ours := a.Connect(b, 0, 0), b.Connect(a, 0, 0)
			sync := f.send(t, b, a, 100, 1, endpoint.Matched)
			large := f.send(t, b, a, 300_000, 2, endpoint.Matched)
			r1, r2 := f.recv(t, a, 100, 1, exactly), f.recv(t, a, 300_000, 2, exactly)
			f.settle()
			done(t, "connect of the sender", a, again)
			done(t, "connect to the sender", b, ours)
			done(t, "small synchronous message to the sender", b, sync)
			done(t, "large one", b, large)
			done(t, "its receive", a, r1)
			done(t, "its receive", a, r2)
			for _, pair := range [][2]*endpointtest.Node{{a, b}, {b, a}} {
				from, to := pair[0], pair[1]
				id, err := to.Engine.OpenWindow(make([]byte, 9000), endpoint.MayRead|endpoint.MayWrite, 5)
				if err != nil {
					t.Fatal(err)
				}
				addr, _ := from.Engine.AddrOf(from.PeerOf(to))
				for _, n := range []int{8, 9000} {
					put, _ := from.Engine.Put(wire.Vec{First: make([]byte, n)}, addr, id, 0, 0, nil)
					get, _ := from.Engine.Get(wire.Vec{First: make([]byte, n)}, addr, id, 0, 0, nil)
					f.settle()
					done(t, "put", from, put)
					done(t, "get", from, get)
				}
			}
			f.receiveAll(t, 100)
		})
	}
}

// receiveAll receives what was sent, and wants all sends to complete.
func (f *flooded) receiveAll(t *testing.T, size int) {
	t.Helper()
	for i := range f.sends[0] {
		for range f.senders {
			h := f.recv(t, f.b, size, uint64(i), exactly)
			for k := 0; f.b.Engine.Pending(h) && k < 3; k++ {
				f.settle()
			}
			done(t, fmt.Sprint("message ", i), f.b, h)
		}
		if t.Failed() {
			return
		}
	}
	f.settle()
	for k, n := range f.senders {
		for i, h := range f.sends[k] {
			if done(t, fmt.Sprint("send ", i), n, h); t.Failed() {
				return
			}
		}
	}
}

// TestLargeMessageBeforeTheFlood: a large message, then many small ones, which are
// received by wildcards in their order.
func TestLargeMessageBeforeTheFlood(t *testing.T) {
	testlength.Long(t)
	for name, caps := range media() {
		t.Run(name, func(t *testing.T) {
			f := flood(t, caps, small, 1, 0, 0)
			a := f.senders[0]
			sends := []endpoint.Handle{f.send(t, a, f.b, 300_000, 0, endpoint.BufferFree)}
			for i := range 2000 {
				sends = append(sends, f.send(t, a, f.b, []int{500, 30_000}[i%64/63], uint64(1+i), endpoint.BufferFree))
			}
			f.settle()
			for i := range sends {
				h := f.recv(t, f.b, 300_000, 0, 0)
				for k := 0; f.b.Engine.Pending(h) && k < 3; k++ {
					f.settle()
				}
				var st endpoint.Status
				if ok, err := f.b.Engine.Test(h, &st); !ok || err != nil || st.Match != uint64(i) {
					t.Fatalf("receive %d: done %v, %v, message %d\n%.2000s", i, ok, err, st.Match, f.b.Engine.DumpState())
				}
			}
			f.settle()
			for _, h := range sends {
				done(t, "send", a, h)
			}
		})
	}
}

// TestMemoryOfAReceiver: what senders make an endpoint keep that receives nothing is
// what docs/wire.md says, however many they are, and nobody is left without a share.
func TestMemoryOfAReceiver(t *testing.T) {
	testlength.Alone(t)
	testlength.Long(t)
	cfg := endpoint.Config{
		EagerLimit: -1, CopyLimit: -1, Session: 1, UnexpectedBytes: 1 << 20, UnexpectedHeaders: 8 << 10, UnexpectedReserve: 2 << 10,
	}
	for _, c := range []struct{ senders, messages int }{{1, 20_000}, {10, 4000}, {1000, 120}} {
		for _, size := range []int{8, 900, 2000} {
			f := flood(t, endpointtest.Reliable(true), cfg, c.senders, c.messages, size)
			d := f.b.Engine.Depths()
			bound := 1<<20 + c.senders*2<<10 + (8<<10+c.senders*64)*224
			if d.Bytes > bound || d.BytesPeak > bound {
				t.Errorf("%d senders of %d bytes: %d bytes are kept, the bound is %d", c.senders, size, d.Bytes, bound)
			}
			if share := d.Unexpected / c.senders; share < 64 {
				t.Errorf("%d senders of %d bytes: %d messages of each are here", c.senders, size, share)
			}
			if n := f.b.Engine.Counters().WindowBroken; n != 0 {
				t.Errorf("%d senders break their window", n)
			}
		}
	}
}

// TestBrokenWindow: a peer that sends without credit loses its session, and no other does.
func TestBrokenWindow(t *testing.T) {
	for _, kind := range []wire.Kind{wire.Eager, wire.Rendezvous} {
		f := flood(t, endpointtest.Reliable(false), small, 2, 1, 8)
		b, p := f.b.Engine, f.b.PeerOf(f.senders[0])
		for i := range uint32(5000) {
			h := wire.Header{Kind: kind, Match: 7, Seq: 2000 + 1 + i, Session: 1}
			if kind == wire.Rendezvous {
				h.Flags, h.ID, h.Total = wire.HasID|wire.HasRange, 7, 5000
			}
			b.Frame(p, &h, nil)
		}
		c := b.Counters()
		if c.WindowBroken != 1 || b.Depths().Unexpected > 600 {
			t.Errorf("%v: %d peers given up, %d messages kept, %d frames of no session", kind, c.WindowBroken, b.Depths().Unexpected, c.BadSession)
		}
		h := f.send(t, f.senders[1], f.b, 8, 99, endpoint.Matched)
		r := f.recv(t, f.b, 8, 99, exactly)
		f.settle()
		done(t, "another peer's message", f.senders[1], h)
		done(t, "another peer's message", f.b, r)
	}
}

// TestFewHeadersForAHandler: without bytes left, small messages to a peer with a handler cost headers by their length. One who
// receives whatever there is gets all of them, however few headers it gives, and whatever their lengths.
func TestFewHeadersForAHandler(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		cfg := small
		cfg.UnexpectedBytes, cfg.UnexpectedHeaders = 1<<10, 40
		f := flood(t, endpointtest.Reliable(false), cfg, 1, 0, 0)
		f.b.Handler = func(*endpoint.Incoming) endpoint.Action { return endpoint.Continue }
		f.b.Engine.SetHandler(true)
		f.settle()
		for i := range uint64(300) {
			f.sends[0] = append(f.sends[0], f.send(t, f.senders[0], f.b, rng.IntN(1024), i, endpoint.BufferFree))
		}
		f.settle()
		for i := range f.sends[0] {
			r := f.recv(t, f.b, 1024, 0, 0)
			f.settle()
			done(t, fmt.Sprintf("seed %d, receive %d", seed, i), f.b, r)
			if t.Failed() {
				return
			}
		}
	}
}

// TestEmptyHeaderIsShown: an empty message is shown to the handler also if it came as the header of a rendezvous; of a small one that
// is not empty the handler would miss the bytes, so that it is kept.
func TestEmptyHeaderIsShown(t *testing.T) {
	f := flood(t, endpointtest.Reliable(false), small, 1, 1, 8)
	shown := 0
	f.b.Handler = func(in *endpoint.Incoming) endpoint.Action {
		shown++
		return endpoint.Finished
	}
	f.b.Engine.SetHandler(true)
	f.settle()
	before := f.b.Engine.Depths().Unexpected
	for i, c := range []struct {
		total       uint32
		shown, kept int
	}{{0, 1, 0}, {1, 1, 1}, {endpoint.AlwaysEager - 1, 1, 2}, {endpoint.AlwaysEager, 2, 2}} {
		f.b.Engine.Frame(f.b.PeerOf(f.senders[0]), &wire.Header{
			Kind: wire.Rendezvous, Flags: wire.HasID | wire.HasRange, Match: 7, ID: 7, Total: c.total, Seq: 2000 + 1 + uint32(i), Session: 1,
		}, nil)
		if kept := f.b.Engine.Depths().Unexpected - before; shown != c.shown || kept != c.kept {
			t.Errorf("header of %d bytes: %d shown and %d kept, want %d and %d", c.total, shown, kept, c.shown, c.kept)
		}
	}
}

// TestReserveOfHeaders: whatever a peer has sent before and was received, so many of its messages may be here without a receive as its
// reserve has headers: a receiver that takes the last of them first gets it.
func TestReserveOfHeaders(t *testing.T) {
	const reserve = 64
	cfg := endpoint.Config{EagerLimit: -1, CopyLimit: -1, Session: 1, UnexpectedBytes: 1, UnexpectedHeaders: 1, UnexpectedReserve: 1}
	for before := range 2 * reserve {
		f := flood(t, endpointtest.Reliable(true), cfg, 1, 0, 0)
		a := f.senders[0]
		for range before {
			f.send(t, a, f.b, 17, 1, endpoint.BufferFree)
			r := f.recv(t, f.b, 17, 1, ^uint64(0))
			f.settle()
			done(t, "receive of the first", f.b, r)
		}
		for range reserve - 1 {
			f.send(t, a, f.b, 17, 1, endpoint.BufferFree)
		}
		f.send(t, a, f.b, 17, 2, endpoint.BufferFree)
		last := f.recv(t, f.b, 17, 2, ^uint64(0))
		f.settle()
		if done(t, fmt.Sprintf("receive of the last, %d were received before", before), f.b, last); t.Failed() {
			return
		}
	}
}
