package endpointtest

import (
	"bytes"
	"fmt"

	"gomx/endpoint"
)

// Commands about windows, puts and gets.
var _ = family(map[string]command{
	"window": openWindow,
	"shut":   shutWindow,
	"busy":   busyWindow,
	"inside": insideWindow,
	"used":   usedWindow,
	"put":    put,
	"write":  write,
	"get":    get,
	"gets":   gets,
})

// tracedWindow is a window of a trace.
type tracedWindow struct {
	node   *Node
	id     uint64
	buffer *Buffer
	puts   []*traced
}

// tracedAccess is what a put or get was about.
type tracedAccess struct {
	window *tracedWindow
	at, n  int
	bytes  []byte // of a put
}

func emptyTrace() *Trace {
	return &Trace{requests: map[string]*traced{}, windows: map[string]*tracedWindow{}, claims: map[string]endpoint.Claim{}, counters: map[string]*tracedCounter{}}
}

func (t *Trace) window(name string, a *arguments) *tracedWindow {
	w := t.windows[name]
	if w == nil && a.err == nil {
		a.err = fmt.Errorf("no window %q", name)
	}
	return w
}

// window NAME a len=N [read] [write] [zero]
func openWindow(t *Trace, a *arguments) error {
	name, n := a.word(0), t.node(a, 1)
	if a.err != nil {
		return nil
	}
	may := endpoint.Permission(0)
	if a.has("read") {
		may |= endpoint.MayRead
	}
	if a.has("write") {
		may |= endpoint.MayWrite
	}
	b := NewBuffer(a.sizes()...)
	if a.has("zero") {
		clear(b.Vec.First)
	}
	id, err := n.Engine.OpenWindow(b.Vec.First, may, uint64(len(t.windows)+1))
	if err != nil {
		return err
	}
	t.windows[name] = &tracedWindow{node: n, id: id, buffer: b}
	return nil
}

// shut WINDOW
func shutWindow(t *Trace, a *arguments) error {
	w := t.window(a.word(0), a)
	if w == nil {
		return nil
	}
	if !w.node.Engine.CloseWindow(w.id) {
		return fmt.Errorf("there is no such window")
	}
	return busyWindow(t, a)
}

// busy WINDOW
func busyWindow(t *Trace, a *arguments) error {
	if w := t.window(a.word(0), a); w != nil && w.node.Engine.WindowBusy(w.id) {
		t.printf("busy")
	} else {
		t.printf("free")
	}
	return nil
}

// inside WINDOW: which puts are there, and whether the memory around is as it was.
func insideWindow(t *Trace, a *arguments) error {
	w := t.window(a.word(0), a)
	if w == nil {
		return nil
	}
	for _, r := range w.puts {
		x := r.access
		mem := w.buffer.Vec.First
		switch {
		case x.at+x.n > len(mem):
			t.printf("%s: beyond", r.name)
		case bytes.Equal(mem[x.at:x.at+x.n], x.bytes):
			t.printf("%s: there", r.name)
		default:
			t.printf("%s: not there", r.name)
		}
	}
	if w.buffer.CheckAround() != nil {
		t.printf("WRITTEN OUTSIDE")
	}
	return nil
}

// put NAME a b window=W [at=N] len=N|cut=N,N [wrong] [when=COUNTER:N]
func put(t *Trace, a *arguments) error {
	return t.access(a, func(r *traced, addr endpoint.Addr, b *Buffer, id uint64) (endpoint.Handle, error) {
		t.sends++
		r.seed = t.sends
		Fill(&b.Vec, r.seed)
		r.access.bytes = make([]byte, r.access.n)
		b.Vec.Gather(r.access.bytes, 0)
		r.access.window.puts = append(r.access.window.puts, r)
		at, match := uint32(r.access.at), a.number("match", 0)
		if when, triggered := t.when(a); triggered {
			return r.node.Engine.PutAt(when, b.Vec, addr, id, at, match, nil)
		}
		return r.node.Engine.Put(b.Vec, addr, id, at, match, nil)
	})
}

// write NAME a b window=W [at=N] len=N [wrong]
func write(t *Trace, a *arguments) error {
	w := t.window(a.keyed["window"], a)
	name, from, _, addr, err := t.toward(a)
	if err != nil {
		return err
	}
	b := NewBuffer(a.sizes()...)
	t.sends++
	Fill(&b.Vec, t.sends)
	x := &tracedAccess{window: w, at: int(a.number("at", 0)), n: b.Vec.Len(), bytes: bytes.Clone(b.Vec.First)}
	id := w.id
	if a.has("wrong") {
		id += 1 << 40
	}
	sent, err := from.Engine.Write(b.Vec.First, addr, id, uint32(x.at))
	if err != nil {
		return err
	}
	Fill(&b.Vec, 0) // the bytes must have left
	if !sent {
		t.printf("%s: can't leave", name)
		return nil
	}
	w.puts = append(w.puts, &traced{name: name, node: from, access: x})
	return nil
}

// used WINDOW: how many puts and gets it has seen.
func usedWindow(t *Trace, a *arguments) error {
	if w := t.window(a.word(0), a); w != nil {
		puts, gets := w.node.Engine.WindowUse(w.id)
		t.printf("%d puts, %d gets", puts, gets)
	}
	return nil
}

// get NAME a b window=W [at=N] len=N|cut=N,N [wrong] [when=COUNTER:N]
func get(t *Trace, a *arguments) error {
	return t.access(a, func(r *traced, addr endpoint.Addr, b *Buffer, id uint64) (endpoint.Handle, error) {
		r.buffer = b
		at, match := uint32(r.access.at), a.number("match", 0)
		if when, triggered := t.when(a); triggered {
			return r.node.Engine.GetAt(when, b.Vec, addr, id, at, match, nil)
		}
		return r.node.Engine.Get(b.Vec, addr, id, at, match, nil)
	})
}

// gets PREFIX a b count=N window=W len=N
func gets(t *Trace, a *arguments) error {
	prefix := a.word(0)
	for i := range a.number("count", 1) {
		one := *a
		one.plain = append([]string{fmt.Sprintf("%s%d", prefix, i+1)}, a.plain[1:]...)
		if err := get(t, &one); err != nil {
			return err
		}
	}
	return nil
}

func (t *Trace) access(a *arguments, begin func(r *traced, addr endpoint.Addr, b *Buffer, id uint64) (endpoint.Handle, error)) error {
	w := t.window(a.keyed["window"], a)
	name, from, _, addr, err := t.toward(a)
	if err != nil {
		return err
	}
	b := NewBuffer(a.sizes()...)
	r := &traced{name: name, node: from}
	r.access = &tracedAccess{window: w, at: int(a.number("at", 0)), n: b.Vec.Len()}
	id := w.id
	if a.has("wrong") {
		id += 1 << 40
	}
	if r.handle, err = begin(r, addr, b, id); err != nil {
		return err
	}
	t.requests[name] = r
	return nil
}

func (r *traced) accessOutcome(st *endpoint.Status) string {
	s := fmt.Sprintf("%v, %d of %d bytes", st.Code, st.XferLength, st.MsgLength)
	x := r.access
	if r.buffer == nil || st.Code != endpoint.Success {
		return s
	}
	got := make([]byte, x.n)
	r.buffer.Vec.Gather(got, 0)
	if !bytes.Equal(got, x.window.buffer.Vec.First[x.at:x.at+x.n]) || r.buffer.CheckAround() != nil {
		return s + ", OTHERS than in the window"
	}
	return s
}
