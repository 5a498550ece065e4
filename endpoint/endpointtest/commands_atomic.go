package endpointtest

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"gomx/endpoint"
	"gomx/transport/wire"
)

// Commands about atomics. Their elements are integers.
var _ = family(map[string]command{
	"atomic":    atomic,
	"atomicnow": atomicNow,
	"holds":     holdsElements,
})

// tracedAtomic is what an atomic was about.
type tracedAtomic struct {
	what wire.AtomicWhat
	b    []byte
}

// what reads op=NAME type=NAME [fetch]. Unknown names are the numbers behind the last.
func (a *arguments) what() wire.AtomicWhat {
	named := func(key string, n int, name func(i int) string) uint8 {
		for i := range n {
			if strings.ReplaceAll(name(i), " ", "-") == a.keyed[key] {
				return uint8(i)
			}
		}
		return uint8(n)
	}
	return wire.AtomicWhat{
		Op:    wire.AtomicOp(named("op", 13, func(i int) string { return wire.AtomicOp(i).String() })),
		Type:  wire.AtomicType(named("type", 13, func(i int) string { return wire.AtomicType(i).String() })),
		Fetch: a.has("fetch"),
	}
}

// elements reads values=N,N as elements of a type; bytes=N are so many bytes.
func (a *arguments) elements(t wire.AtomicType) []byte {
	if n := a.number("bytes", 0); n > 0 {
		return make([]byte, n)
	}
	var b []byte
	for text := range strings.SplitSeq(a.keyed["values"], ",") {
		v, err := strconv.ParseInt(text, 0, 64)
		if err != nil {
			a.err = err
		}
		switch t.Size() {
		case 4:
			b = binary.NativeEndian.AppendUint32(b, uint32(v))
		case 8:
			b = binary.NativeEndian.AppendUint64(b, uint64(v))
		default:
			b = append(b, byte(v))
		}
	}
	return b
}

func shownElements(t wire.AtomicType, b []byte) string {
	var all []string
	for size := max(t.Size(), 1); len(b) >= size; b = b[size:] {
		switch size {
		case 4:
			all = append(all, fmt.Sprint(int32(binary.NativeEndian.Uint32(b))))
		case 8:
			all = append(all, fmt.Sprint(int64(binary.NativeEndian.Uint64(b))))
		default:
			all = append(all, fmt.Sprint(b[0]))
		}
	}
	return strings.Join(all, ",")
}

// atomic NAME a b window=W op=OP type=TYPE values=N,N [at=N] [fetch] [wrong] [when=COUNTER:N]
func atomic(t *Trace, a *arguments) error {
	return t.atomic(a, func(name string, from *Node, addr endpoint.Addr, x *tracedAtomic, id uint64, at uint32) error {
		var h endpoint.Handle
		var err error
		if when, triggered := t.when(a); triggered {
			h, err = from.Engine.AtomicAt(when, x.what, x.b, addr, id, at, 0, nil)
		} else {
			h, err = from.Engine.Atomic(x.what, x.b, addr, id, at, 0, nil)
		}
		if err != nil {
			t.printf("%s: %v", name, err)
			return nil
		}
		t.requests[name] = &traced{name: name, node: from, handle: h, atomic: x}
		return nil
	})
}

// atomicnow NAME a b, and the rest as atomic: without a request.
func atomicNow(t *Trace, a *arguments) error {
	return t.atomic(a, func(name string, from *Node, addr endpoint.Addr, x *tracedAtomic, id uint64, at uint32) error {
		sent, err := from.Engine.AtomicNow(x.what, x.b, addr, id, at)
		clear(x.b) // it must have left
		if err != nil || !sent {
			t.printf("%s: can't leave, %v", name, err)
		}
		return nil
	})
}

func (t *Trace) atomic(a *arguments, begin func(name string, from *Node, addr endpoint.Addr, x *tracedAtomic, id uint64, at uint32) error) error {
	w := t.window(a.keyed["window"], a)
	name, from, _, addr, err := t.toward(a)
	if err != nil {
		return err
	}
	x := &tracedAtomic{what: a.what()}
	if x.b = a.elements(x.what.Type); a.err != nil {
		return a.err
	}
	id := w.id
	if a.has("wrong") {
		id += 1 << 40
	}
	return begin(name, from, addr, x, id, uint32(a.number("at", 0)))
}

// holds WINDOW type=TYPE [at=N] count=N: the elements that are there.
func holdsElements(t *Trace, a *arguments) error {
	w := t.window(a.word(0), a)
	if w == nil {
		return nil
	}
	typ := a.what().Type
	at := int(a.number("at", 0))
	t.printf("%s", shownElements(typ, w.buffer.Vec.First[at:at+typ.Size()*int(a.number("count", 1))]))
	return nil
}

func (x *tracedAtomic) outcome(st *endpoint.Status) string {
	s := fmt.Sprintf("%v, %d of %d bytes", st.Code, st.XferLength, st.MsgLength)
	if x.what.Fetch && st.Code == endpoint.Success {
		s += ", there was " + shownElements(x.what.Type, x.b[:st.XferLength])
	}
	return s
}
