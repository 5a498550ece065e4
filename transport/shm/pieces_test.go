//go:build linux

package shm

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gomx/transport"
	"gomx/transport/wire"
)

// listener notes what a port delivers, in its order.
type listener struct {
	nothing
	heard []string
}

func (l *listener) Frame(peer int32, _ *wire.Header, _ []byte) bool {
	l.heard = append(l.heard, "frame")
	return true
}

func (l *listener) PullFinished(id uint64, ok bool) {
	l.heard = append(l.heard, map[bool]string{true: "pulled ", false: "failed "}[ok]+string(rune('a'+id)))
}

// couple links a port to another one, and returns the links of both.
func couple(t *testing.T, p *port, r *recorder, number int32) (here, there *link) {
	t.Helper()
	other, _ := target(t)
	l, err := other.Dial(context.Background(), p.self)
	if err != nil {
		t.Fatal(err)
	}
	var got []transport.Link
	waitUntil(t, "the peer is accepted", func() bool { got = append(got, r.links()...); return len(got) == 1 })
	l.Bind(0)
	got[0].Bind(number)
	return got[0].(*link), l.(*link)
}

// source is memory that a peer pulls out of, and the memory descriptor of it.
type source struct {
	link  *link
	bytes []byte
	desc  []byte
	token uint64
}

// memories are where messages lie that are copied in either way.
var memories = map[string]func(t *testing.T, n int) []byte{
	"read": func(_ *testing.T, n int) []byte { return make([]byte, n) },
	"arena": func(t *testing.T, n int) []byte {
		b, err := Alloc(n)
		if err != nil {
			t.Skip("no shared memory here: ", err)
		}
		t.Cleanup(func() {
			if err := Free(b); err != nil {
				t.Error(err)
			}
		})
		return b
	},
}

func exportBytes(l *link, b []byte) *source {
	for i := range b {
		b[i] = byte(i) ^ byte(i>>8)*3 ^ byte(i>>16)*7
	}
	s := &source{link: l, bytes: b}
	s.desc, s.token = l.Export(nil, &wire.Vec{First: b})
	return s
}

// eachMemory runs a test for both ways to copy, over a port with a link to one peer.
func eachMemory(t *testing.T, f func(t *testing.T, p *port, r *recorder, here, there *link, memory func(n int) []byte)) {
	for name, memory := range memories {
		t.Run(name, func(t *testing.T) {
			memory(t, 1) // so that there is an arena when the two meet
			p, r := target(t)
			here, there := couple(t, p, r, 1)
			if err := here.unreadable(); name == "read" && err != nil {
				t.Skip("processes can't be read here: ", err)
			}
			f(t, p, r, here, there, func(n int) []byte { return memory(t, n) })
		})
	}
}

// begin starts a pull outside of Poll, which is what copies.
func begin(t *testing.T, l *link, s *source, into []byte, id uint64) {
	t.Helper()
	l.chooser = chooser{} // which begins with a copy
	if got := l.Pull(s.desc, &wire.Vec{First: into}, len(into), id); got != wire.PullStarted {
		t.Fatalf("pull of %d bytes: %v, want PullStarted", len(into), got)
	}
}

// TestOthersGetThrough pulls a large message while another peer speaks: its frames come between the pieces.
func TestOthersGetThrough(t *testing.T) {
	eachMemory(t, func(t *testing.T, p *port, r *recorder, here, there *link, memory func(n int) []byte) {
		_, other := couple(t, p, r, 2)
		s, into := exportBytes(there, memory(10*piece+1)), make([]byte, 10*piece+1)
		begin(t, here, s, into, 0)
		h := wire.Header{Kind: wire.Eager, Length: 8}
		var l listener
		polls := 0
		for ; !slices.Contains(l.heard, "pulled a"); polls++ {
			if p.Quiet() {
				t.Fatal("the port would sleep with a pull under way")
			}
			if polls < 5 && !other.Send(&h, &wire.Vec{First: make([]byte, 8)}, 0) {
				t.Fatal("no room for a frame")
			}
			p.Poll(&l)
		}
		if want := append(slices.Repeat([]string{"frame"}, 5), "pulled a"); !slices.Equal(l.heard, want) {
			t.Errorf("heard %v, want %v", l.heard, want)
		}
		if polls != 11 {
			t.Errorf("%d polls for 10 pieces and a byte", polls)
		}
		if !bytes.Equal(into, s.bytes) {
			t.Error("other bytes came")
		}
		if p.Poll(&l); !p.Quiet() || p.copied != 0 {
			t.Error("the port does not come to rest")
		}
	})
}

// TestCallsDoNotCopy: a pull that a call begins is left to Poll, however short it is; one that a frame begins is copied at once.
func TestCallsDoNotCopy(t *testing.T) {
	eachMemory(t, func(t *testing.T, p *port, _ *recorder, here, there *link, memory func(n int) []byte) {
		s, into := exportBytes(there, memory(1000)), make([]byte, 1000)
		begin(t, here, s, into, 0)
		if !bytes.Equal(into, make([]byte, len(into))) {
			t.Error("the call has copied")
		}
		if p.Quiet() {
			t.Error("the port would sleep with a pull to begin")
		}
		var l listener
		if p.Poll(&l); !slices.Equal(l.heard, []string{"pulled a"}) || !bytes.Equal(into, s.bytes) {
			t.Errorf("after a poll: heard %v", l.heard)
		}
		h := wire.Header{Kind: wire.Rendezvous}
		if !there.Send(&h, &wire.Vec{}, 0) {
			t.Fatal("no room for a frame")
		}
		here.chooser = chooser{}
		var result wire.PullResult
		p.Poll(&answerer{answer: func() { result = here.Pull(s.desc, &wire.Vec{First: into}, len(into), 1) }})
		if result != wire.PullDone {
			t.Errorf("a pull that a frame has begun: %v, want PullDone", result)
		}
	})
}

// answerer answers each frame.
type answerer struct {
	listener
	answer func()
}

func (a *answerer) Frame(int32, *wire.Header, []byte) bool {
	a.answer()
	return true
}

// TestPullsInTurn has pulls take turns, and bounds what is copied between two polls whatever begins in it.
func TestPullsInTurn(t *testing.T) {
	eachMemory(t, func(t *testing.T, p *port, _ *recorder, here, there *link, memory func(n int) []byte) {
		sizes := []int{6 * piece, 2 * piece, 1000, piece}
		all := make([]*source, len(sizes))
		into := make([][]byte, len(sizes))
		for i, n := range sizes {
			all[i], into[i] = exportBytes(there, memory(n)), make([]byte, n)
			begin(t, here, all[i], into[i], uint64(i))
		}
		var l listener
		for len(l.heard) < len(sizes) {
			p.Poll(&l)
			if p.copied > piece {
				t.Fatalf("%d bytes were copied in one poll", p.copied)
			}
		}
		if want := []string{"pulled c", "pulled b", "pulled d", "pulled a"}; !slices.Equal(l.heard, want) {
			t.Errorf("the pulls ended in the order %v, want %v", l.heard, want)
		}
		for i := range all {
			if !bytes.Equal(into[i], all[i].bytes) {
				t.Errorf("pull %d brought other bytes", i)
			}
		}
	})
}

// TestExportEndsBetweenPieces: the pull fails, also if it is the last piece that comes too late.
func TestExportEndsBetweenPieces(t *testing.T) {
	eachMemory(t, func(t *testing.T, p *port, _ *recorder, here, there *link, memory func(n int) []byte) {
		for polls := range 3 {
			s := exportBytes(there, memory(4*piece))
			begin(t, here, s, make([]byte, 4*piece), uint64(polls))
			var l listener
			for range polls {
				p.Poll(&l)
			}
			there.Unexport(s.token, false)
			p.Poll(&l)
			if want := []string{"failed " + string(rune('a'+polls))}; !slices.Equal(l.heard, want) {
				t.Errorf("ended after %d polls: heard %v, want %v", polls, l.heard, want)
			}
		}
	})
}

// TestEndWaitsForTheReader: memory is not given back while the peer copies a piece of it. Copies of other memory are not waited for, and
// a peer that stands still is waited for once.
func TestEndWaitsForTheReader(t *testing.T) {
	p, r := target(t)
	here, there := couple(t, p, r, 1)
	mark, _ := here.exported.table.at(reading)
	ends := map[string]func(s *source){
		"export": func(s *source) { there.Unexport(s.token, false) },
		"link":   func(*source) { there.Close() },
	}
	for _, by := range []string{"export", "link"} {
		s := exportBytes(there, make([]byte, 8))
		var over atomic.Bool
		atomic.StoreUint64(mark, s.token+1)
		time.AfterFunc(20*time.Millisecond, func() { over.Store(true); atomic.StoreUint64(mark, 0) })
		if ends[by](s); !over.Load() {
			t.Errorf("the end of the %s does not wait", by)
		}
		if result := here.Pull(s.desc, &wire.Vec{First: make([]byte, 8)}, 8, 1); result == wire.PullStarted {
			var l listener
			if p.Poll(&l); !slices.Equal(l.heard, []string{"failed b"}) {
				t.Errorf("after the end of the %s: %v", by, l.heard)
			}
		} else if result != wire.PullFailed {
			t.Errorf("after the end of the %s a pull answers %v", by, result)
		}
	}

	here, there = couple(t, p, r, 1)
	still, _ := here.exported.table.at(reading)
	s, other := exportBytes(there, make([]byte, 8)), exportBytes(there, make([]byte, 8))
	atomic.StoreUint64(still, s.token+1)
	there.Unexport(other.token, false)
	if there.tardy {
		t.Error("it waits for a copy of other memory")
	}
	if there.Unexport(s.token, false); !there.tardy {
		t.Error("it does not wait for a peer that stands still")
	}
	there.Close()
}

// TestStoppedPull: a pull that is stopped writes nothing more, and fails.
func TestStoppedPull(t *testing.T) {
	eachMemory(t, func(t *testing.T, p *port, _ *recorder, here, there *link, memory func(n int) []byte) {
		s, into := exportBytes(there, memory(4*piece)), make([]byte, 4*piece)
		begin(t, here, s, into, 0)
		var l listener
		p.Poll(&l)
		if !here.StopPull(0) || here.StopPull(0) {
			t.Error("it is stopped never, or twice")
		}
		clear(into)
		p.Poll(&l)
		if len(l.heard) != 0 || !bytes.Equal(into, make([]byte, len(into))) {
			t.Errorf("heard %v, or bytes were written", l.heard)
		}
	})
}

// TestMemoryGoesWithTheSend: a pull fails whose memory is unmapped once the send has ended, and the next one is copied directly as before.
func TestMemoryGoesWithTheSend(t *testing.T) {
	p, r := target(t)
	here, there := couple(t, p, r, 1)
	if err := here.unreadable(); err != nil {
		t.Skip("processes can't be read here: ", err)
	}
	b, err := unix.Mmap(-1, 0, 4*piece, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	s := exportBytes(there, b)
	begin(t, here, s, make([]byte, len(b)), 0)
	var l listener
	p.Poll(&l)
	there.Unexport(s.token, false)
	if err := unix.Munmap(b); err != nil {
		t.Fatal(err)
	}
	p.Poll(&l)
	s = exportBytes(there, make([]byte, 2*piece))
	begin(t, here, s, make([]byte, 2*piece), 1)
	p.Poll(&l)
	p.Poll(&l)
	if want := []string{"failed a", "pulled b"}; !slices.Equal(l.heard, want) || here.unreadable() != nil {
		t.Errorf("heard %v, want %v; %v", l.heard, want, here.unreadable())
	}
}

// TestPullEndsWithItsLink: from the end of a link on, nothing is written and nothing heard of its pulls. Those of
// another one go on.
func TestPullEndsWithItsLink(t *testing.T) {
	for _, by := range []string{"here", "there", "corrupt"} {
		t.Run(by, func(t *testing.T) {
			eachMemory(t, func(t *testing.T, p *port, r *recorder, here, there *link, memory func(n int) []byte) {
				healthy, other := couple(t, p, r, 2)
				s, into := exportBytes(there, memory(4*piece)), make([]byte, 4*piece)
				begin(t, here, s, into, 0)
				rest := exportBytes(other, memory(3*piece))
				begin(t, healthy, rest, make([]byte, 3*piece), 1)
				switch by {
				case "here":
					here.Close()
				case "there":
					there.Close()
					waitUntil(t, "the end is seen", func() bool { return here.ended.Load() != nil })
				case "corrupt":
					binary.LittleEndian.PutUint64(ringOut(there.pair.Bytes(), true)[64:], 0xff|1<<16) // an unknown kind
				}
				var l listener
				if by != "here" {
					p.Poll(&l)
					if r.ends() != 1 {
						t.Fatal("the link is not down")
					}
				}
				clear(into)
				for range 10 {
					p.Poll(&l)
				}
				want := []string{"pulled b"}
				if by == "there" { // the export has ended before the link's end is seen
					want = []string{"failed a", "pulled b"}
				}
				if !slices.Equal(l.heard, want) {
					t.Errorf("heard %v, want %v", l.heard, want)
				}
				if !bytes.Equal(into, make([]byte, len(into))) {
					t.Error("bytes were written after the link's end")
				}
				here.Close()
			})
		})
	}
}

// TestPullsDontAllocate: what a pull needs while it is under way is used again.
func TestPullsDontAllocate(t *testing.T) {
	eachMemory(t, func(t *testing.T, p *port, _ *recorder, here, there *link, memory func(n int) []byte) {
		s, v := exportBytes(there, memory(2*piece)), &wire.Vec{First: make([]byte, 2*piece)}
		run := func() {
			if here.Pull(s.desc, v, 2*piece, 0) == wire.PullStarted {
				for len(p.pulls) > 0 {
					p.Poll(nothing{})
				}
			}
		}
		if n := testing.AllocsPerRun(50, run); n != 0 {
			t.Errorf("%v allocations for a pull", n)
		}
	})
}
