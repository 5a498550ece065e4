package mpi

import (
	"encoding/binary"

	"gomx/mpi/internal/queue"
	"gomx/mx"
)

// A free lock is taken by its word, and given back by it unless another rank has asked for it meanwhile. Each is an
// atomic, which the endpoint of the target carries out. In all other cases the service of the target's process decides.

// lockWord is the word of the lock of a rank of this process. Its methods, except open and handle, are called with the
// mutex of the memory held.
type lockWord struct {
	mem     [8]byte
	win     *mx.Window
	decides bool // the queue decides, and the word is Queued
}

func (l *lockWord) open(ep *mx.Endpoint) (err error) {
	l.win, err = ep.OpenWindow(l.mem[:], mx.WindowRead|mx.WindowWrite)
	return err
}

func (l *lockWord) handle() mx.WindowHandle { return l.win.Handle() }

func (l *lockWord) close() {
	if l.win != nil {
		_ = l.win.Close()
	}
}

// swap sets the word, and returns its old value, and false if the word is closed.
func (l *lockWord) swap(to queue.Word) (old queue.Word, ok bool) {
	if l.win == nil {
		return 0, false
	}
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], uint64(to))
	err := l.win.FetchAtomic(mx.AtomicReplace, mx.AtomicUint64, b[:], 0)
	return queue.Word(binary.NativeEndian.Uint64(b[:])), err == nil
}

// takeOver makes the queue decide from now on, until letGo.
func (e *exposed) takeOver() {
	if e.word.decides {
		return
	}
	if old, ok := e.word.swap(queue.Queued); ok {
		e.lock.TakeOver(old)
		e.word.decides = true
	}
}

// letGo makes the word decide again if the lock is free.
func (e *exposed) letGo() {
	if e.word.decides && e.lock.Vacant() {
		e.word.decides = false
		e.word.swap(queue.Free)
	}
}

// grab takes the lock of a target if it is free. A target that is not connected yet has to be asked, and so has one
// whose service is not connected: it could not be notified if the attempt is given up.
func (w *window) grab(t *target, op string, rank int, exclusive bool) (taken bool, err error) {
	p := w.c.peers[rank].Load()
	if p == nil || !w.c.seat.job.control.Reached(w.process(rank)) {
		return false, nil
	}
	t.mu.Lock()
	own, ok := t.lock.Try(w.c.worldRank(w.c.rank), exclusive)
	t.mu.Unlock()
	if !ok {
		return false, nil
	}
	old, err := w.swapWord(t, p, op, rank, queue.Free, own)
	if err != nil {
		return false, err
	}
	if old == queue.Free {
		return true, nil
	}
	t.mu.Lock()
	t.lock.Missed()
	t.mu.Unlock()
	return false, nil
}

// drop gives back a lock that the rank has taken by the word, and reports whether that was the case.
func (w *window) drop(t *target, op string, rank int) (given bool, err error) {
	t.mu.Lock()
	own, ok := t.lock.Word()
	t.mu.Unlock()
	if !ok {
		return false, nil
	}
	p, err := w.c.peer(op, rank, Undefined)
	if err != nil {
		return false, renamed(err, "Win."+op)
	}
	old, err := w.swapWord(t, p, op, rank, own, queue.Free)
	return old == own, err
}

// swapWord compares and swaps the word of a target, and returns its old value.
func (w *window) swapWord(t *target, p *peer, op string, rank int, from, to queue.Word) (old queue.Word, err error) {
	a := combining{w, t, p.addr, t.word, op, rank}
	in, out := swapOf(from, to), [8]byte{}
	err = a.fetch(mx.AtomicCompareSwap, mx.AtomicUint64, in[:], out[:], 0)
	return queue.Word(binary.NativeEndian.Uint64(out[:])), err
}

// swapOf returns the operands that swap one word for another.
func swapOf(from, to queue.Word) (b [16]byte) {
	binary.NativeEndian.PutUint64(b[:], uint64(from))
	binary.NativeEndian.PutUint64(b[8:], uint64(to))
	return b
}
