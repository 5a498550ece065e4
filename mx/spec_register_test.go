package mx_test

import (
	"bytes"
	"sync"
	"testing"

	"gomx/mx"
)

func register(w *world, ep *mx.Endpoint, b []byte) *mx.Memory {
	w.Helper()
	m, err := ep.Register(b)
	if err != nil {
		w.Fatal(err)
	}
	return m
}

func deregister(w *world, list ...*mx.Memory) {
	w.Helper()
	for _, m := range list {
		if err := m.Deregister(); err != nil {
			w.Error(err)
		}
	}
}

func TestRegisteredMemoryOnEitherSide(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		const size = 3 << 20
		out, in := register(w, a, make([]byte, size)), register(w, b, make([]byte, size))
		if len(out.Bytes()) != size {
			w.Fatalf("%d bytes are registered", len(out.Bytes()))
		}
		for i, n := range append(sizes, 1<<20, size-100) {
			want, got := out.Bytes()[7:7+n], in.Bytes()[100-7:100-7+n]
			copy(want, pattern(n, byte(i)))
			recv := w.irecv(b, got, 1, exact)
			send := w.isend(a, want, toB, 1)
			w.succeed(b, recv)
			w.succeed(a, send)
			if !bytes.Equal(got, pattern(n, byte(i))) {
				w.Errorf("%d bytes arrived changed", n)
			}
		}
		deregister(w, out, in)
		copy(out.Bytes(), pattern(size, 3)) // it stays ours, and can be used as before
		recv := w.irecv(b, in.Bytes(), 2, exact)
		w.succeed(a, w.isend(a, out.Bytes(), toB, 2))
		w.succeed(b, recv)
		if !bytes.Equal(in.Bytes(), pattern(size, 3)) {
			w.Error("after it was deregistered, the memory arrived changed")
		}
	})
}

func TestRegisterMisuse(t *testing.T) {
	over(t, func(w *world) {
		ep := w.open()
		for _, b := range [][]byte{nil, {}} {
			_, err := ep.Register(b)
			refused(w, err, mx.ErrBadParamVal, "register", ep.String())
		}
		m := register(w, ep, make([]byte, 100))
		deregister(w, m)
		refused(w, m.Deregister(), mx.ErrBadSegMem, "deregister", ep.String())
		left := register(w, ep, make([]byte, 100))
		shut(w, ep)
		refused(w, left.Deregister(), mx.ErrBadEndpoint, "deregister", ep.String())
		_, err := ep.Register(make([]byte, 100))
		refused(w, err, mx.ErrBadEndpoint, "register", ep.String())
	})
}

func TestRegisterMoreThanOnce(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair(mx.WithEagerLimit(0))
		memory, arena := make([]byte, 200_000), alloc(w, 200_000)
		list := []*mx.Memory{
			register(w, a, memory), register(w, a, memory[100_000:]), register(w, b, memory), register(w, a, arena),
		}
		deregister(w, list[0])
		for _, part := range [][]byte{memory[150_000:], memory[50_000:150_000], arena} {
			copy(part, pattern(len(part), 9))
			got := make([]byte, len(part))
			recv := w.irecv(b, got, 1, exact)
			w.succeed(a, w.isend(a, part, toB, 1))
			w.succeed(b, recv)
			if !bytes.Equal(got, part) {
				w.Errorf("%d bytes arrived changed", len(part))
			}
		}
		deregister(w, list[1:]...)
		if err := mx.Free(arena); err != nil {
			w.Error(err)
		}
	})
}

func TestRegisterFromManyGoroutines(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 20 {
					m, err := b.Register(make([]byte, 10_000))
					if err == nil {
						err = m.Deregister()
					}
					if err != nil {
						w.Error(err)
					}
				}
			})
		}
		for i := range 50 {
			recv := w.irecv(b, make([]byte, 70_000), uint64(i), exact)
			w.succeed(a, w.isend(a, pattern(70_000, 0), toB, uint64(i)))
			w.succeed(b, recv)
		}
		all.Wait()
	})
}
