package endpoint_test

import (
	"fmt"
	"testing"

	"gomx/endpoint"
	"gomx/match"
	"gomx/transport/wire"
)

// slot is the cheapest link there can be: frames lie in a short array until the
// benchmark takes them.
type slot struct {
	caps   wire.Caps
	head   int
	tail   int
	refuse int // so many frames from now on find no room
	frames [128]struct {
		h    wire.Header
		data [64]byte
	}
}

func (s *slot) Caps() *wire.Caps { return &s.caps }

func (s *slot) Send(h *wire.Header, v *wire.Vec, off int) bool {
	if s.refuse > 0 {
		s.refuse--
		return false
	}
	if s.tail-s.head == len(s.frames) {
		return false
	}
	f := &s.frames[s.tail%len(s.frames)]
	f.h.SetWord0(h.Word0(0))
	f.h.Match = h.Match
	f.h.SetWord2(h.Word2())
	if h.Length > 0 {
		if len(v.Rest) == 0 {
			copy(f.data[:], v.First[off:])
		} else {
			v.Gather(f.data[:h.Length], off)
		}
	}
	s.tail++
	return true
}

func (s *slot) deliver(e *endpoint.Engine, peer int32) {
	for s.head != s.tail {
		f := &s.frames[s.head%len(s.frames)]
		e.Frame(peer, &f.h, f.data[:f.h.Length])
		s.head++
	}
}

func (s *slot) Export(dst []byte, _ *wire.Vec) ([]byte, uint64) { return dst, 0 }
func (s *slot) Unexport(uint64, bool)                           {}
func (s *slot) Reclaim()                                        {}
func (s *slot) Pull([]byte, *wire.Vec, int, uint64) wire.PullResult {
	return wire.PullFailed
}

type nobody struct{}

func (nobody) Dial(int32, uint64, uint32)                    {}
func (nobody) Adopted(int32, wire.Link)                      {}
func (nobody) Random() uint64                                { return 1 }
func (nobody) Tick() endpoint.Tick                           { return 0 }
func (nobody) Unexpected(*endpoint.Incoming) endpoint.Action { return endpoint.Continue }
func (nobody) Drop(peer int32, link wire.Link, corrupt bool) {}

// joined returns two connected engines and the link from a to b.
func joined(tb testing.TB) (a, b *endpoint.Engine, ab *slot, to endpoint.Addr) {
	a = endpoint.New(endpoint.Config{NIC: 1, Session: 1, EagerLimit: -1, CopyLimit: -1}, nobody{})
	b = endpoint.New(endpoint.Config{NIC: 2, Session: 2, EagerLimit: -1, CopyLimit: -1}, nobody{})
	caps := wire.Caps{Name: "slot", MaxFrame: 64, Eager: 64, Ordered: true, Reliable: true}
	ab, ba := &slot{caps: caps}, &slot{caps: caps}
	h := a.Iconnect(2, 0, 0, 0, nil)
	a.LinkUp(1, ab, true)
	b.LinkUp(b.LinkOwner(1, 0, ba, false), ba, false)
	ab.deliver(b, 1)
	ba.deliver(a, 1)
	var st endpoint.Status
	if done, err := a.Test(h, &st); !done || st.Code != endpoint.Success {
		tb.Fatal("connect", done, err, st.Code)
	}
	return a, b, ab, st.Source
}

// BenchmarkMessage is the whole cost of an 8-byte message in both engines: Send,
// Test, Recv, Frame, Test, and a link that copies one cache line twice.
func BenchmarkMessage(b *testing.B) {
	x, y, link, to := joined(b)
	src, dst := make([]byte, 8), make([]byte, 8)
	var st endpoint.Status
	b.ReportAllocs()
	for b.Loop() {
		r, _ := y.Recv(&endpoint.Posting{First: dst, Value: 7, Mask: match.MaskNone}, nil)
		s, _ := x.Send(&endpoint.Outgoing{First: src, To: to, Match: 7}, nil)
		x.Test(s, &st)
		link.deliver(y, 1)
		y.Test(r, &st)
	}
	if st.Code != endpoint.Success || st.XferLength != 8 {
		b.Fatal(st)
	}
}

func BenchmarkUnexpected(b *testing.B) {
	x, y, link, to := joined(b)
	src, dst := make([]byte, 8), make([]byte, 8)
	var st endpoint.Status
	b.ReportAllocs()
	for b.Loop() {
		s, _ := x.Send(&endpoint.Outgoing{First: src, To: to, Match: 7}, nil)
		x.Test(s, &st)
		link.deliver(y, 1)
		r, _ := y.Recv(&endpoint.Posting{First: dst, Value: 7, Mask: match.MaskNone}, nil)
		y.Test(r, &st)
	}
}

// BenchmarkWindow sends 64 messages before the first is received.
func BenchmarkWindow(b *testing.B) {
	x, y, link, to := joined(b)
	src, dst := make([]byte, 8), make([]byte, 8)
	var st endpoint.Status
	var sends, receives [64]endpoint.Handle
	b.ReportAllocs()
	for b.Loop() {
		for i := range receives {
			receives[i], _ = y.Recv(&endpoint.Posting{First: dst, Value: uint64(i), Mask: match.MaskNone}, nil)
		}
		for i := range sends {
			sends[i], _ = x.Send(&endpoint.Outgoing{First: src, To: to, Match: uint64(i)}, nil)
		}
		link.deliver(y, 1)
		for i := range sends {
			x.Test(sends[i], &st)
			y.Test(receives[i], &st)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/msg")
}

// BenchmarkPosted has that many receives posted that do not match.
func BenchmarkPosted(b *testing.B) {
	for _, depth := range []int{0, 16, 1024, 16384} {
		b.Run(fmt.Sprint(depth), func(b *testing.B) {
			x, y, link, to := joined(b)
			src, dst := make([]byte, 8), make([]byte, 8)
			var st endpoint.Status
			for i := range depth {
				y.Recv(&endpoint.Posting{First: dst, Value: uint64(i) + 1000, Mask: match.MaskNone}, nil)
			}
			for b.Loop() {
				r, _ := y.Recv(&endpoint.Posting{First: dst, Value: 7, Mask: match.MaskNone}, nil)
				s, _ := x.Send(&endpoint.Outgoing{First: src, To: to, Match: 7}, nil)
				x.Test(s, &st)
				link.deliver(y, 1)
				y.Test(r, &st)
			}
		})
	}
}
