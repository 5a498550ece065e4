package mpi

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"

	"gomx/mpi/internal/coll"
	"gomx/mpi/internal/elem"
	"gomx/mpi/internal/queue"
	"gomx/mx"
)

// Win is a window: memory of all ranks of a communicator that each of them may read, write and accumulate to (MPI_Win).
// The owner makes no calls for that. Ranks are those of the communicator; offsets and lengths are in elements.
//
// A rank may access memory of other ranks between two Fences, or while it holds their lock. Its accesses are complete
// when Fence, Unlock or a Flush returns. Before that it must not touch the buffers of Put and Get. Concurrent puts and
// gets of the same elements, or accesses of the owner to them, have no order, and their result is undefined.
// Accumulate, GetAccumulate, FetchAndOp and CompareAndSwap are atomic for each element, and those of one rank at one
// target take effect in the order of the calls. The owner reads its own memory after Fence, or while it holds its own
// lock.
//
// All methods may be called from any goroutine, but the collective ones of a window must be called in the same order on all ranks.
// Collective calls on other windows, and on the communicator, have orders of their own.
// There is no counterpart of MPI's Post, Start, Complete and Wait: use a message and a lock. Methods of a nil or zero
// Win return ErrWin, and its memory is empty.
type Win[T any] struct {
	*window
	mem []T
}

// window is a window without its type.
type window struct {
	c       *Comm // of the window alone: its collective calls have an order of their own
	id      uint64
	size    int // bytes of an element
	kind    mx.AtomicType
	exposed *exposed
	targets []target
	owned   []byte // memory to be given back by Free
	state   *windowState
}

// windowState is the state that a window shares with its copies of other contexts.
type windowState struct {
	fenced atomic.Bool // Fence was called once
	freed  atomic.Bool
}

// target is the state of a window at one rank.
type target struct {
	handle mx.WindowHandle
	word   mx.WindowHandle // of the lock
	length int             // elements

	mu    sync.Mutex // must not be held while waiting for another rank
	lock  queue.Claim
	held  atomic.Bool // the rank has the lock, like lock.Holds
	under underway
	spare []mx.Request  // memory for under's
	busy  bool          // a goroutine waits for the operations
	left  chan struct{} // closed when that is over, if others wait for it
}

// WinCreate makes a window of memory that each rank supplies (MPI_Win_create). The lengths may differ; nil is an empty
// one. It is collective. The memory must stay allocated until Free, and the program may touch it only as the rules of
// Win allow.
//
// Errors: ErrType for elements with pointers or of more than 32 KiB, ErrCount for 4 GiB or more at one rank,
// ErrMismatch if the ranks don't agree on the elements or one of them could not open its memory, ErrComm, and those of
// collectives. The context of the communicator ends the call until all ranks have called it, and then no rank has the
// window.
func WinCreate[T any](c *Comm, mem []T) (*Win[T], error) {
	if err := elementsFit[T](c, "WinCreate"); err != nil {
		return nil, err
	}
	b, _ := elem.Bytes(mem)
	w, err := newWindow[T](c, "WinCreate", b, nil)
	if err != nil {
		return nil, err
	}
	return &Win[T]{w, mem}, nil
}

// WinAllocate makes a window of n new elements at each rank, which are zero (MPI_Win_allocate). n may differ between
// ranks. The memory is that of mx.Alloc, which other ranks reach fastest, must not be used after Free, and is given back by Free alone: it stays where
// it is if the window is never freed, also after Finalize. Otherwise it
// is like WinCreate.
func WinAllocate[T any](c *Comm, n int) (*Win[T], error) {
	if err := elementsFit[T](c, "WinAllocate"); err != nil {
		return nil, err
	}
	if n < 0 {
		return nil, c.fail("WinAllocate", ErrCount, "%d elements: a window has none or more", n)
	}
	b, trouble := allocate(n, elem.Size[T]())
	w, err := newWindow[T](c, "WinAllocate", b, trouble)
	if err != nil {
		if b != nil {
			_ = mx.Free(b)
		}
		return nil, err
	}
	w.owned = b
	mem, _ := elem.Of[T](b)
	return &Win[T]{w, mem}, nil
}

// allocate returns memory of n elements.
func allocate(n, size int) ([]byte, error) {
	if n == 0 {
		return nil, nil
	}
	if uint64(n) > mx.MaxMessage/uint64(size) {
		return nil, fmt.Errorf("%d elements of %d bytes: %w: windows are shorter than 4 GiB", n, size, mx.ErrBadSegMem)
	}
	return mx.Alloc(n * size)
}

// elementsFit returns why a window of T can't be made.
func elementsFit[T any](c *Comm, op string) error {
	if err := c.usable(op); err != nil {
		return err
	}
	if !elem.Plain[T]() {
		return pointers[T](c, op, Undefined, Undefined)
	}
	if elem.Size[T]() > largestPiece/2 {
		return c.fail(op, ErrType, "elements of %d bytes; they may have %d", elem.Size[T](), largestPiece/2)
	}
	return nil
}

// Mem returns the memory of this rank. That of WinAllocate is gone after Free: Mem returns nil then, and what it has returned earlier must
// not be used any more.
func (w *Win[T]) Mem() []T {
	if w.open() == nil || w.owned != nil && w.state.freed.Load() {
		return nil
	}
	return w.mem
}

// open returns the window without its type, or nil if there is none.
func (w *Win[T]) open() *window {
	if w == nil {
		return nil
	}
	return w.window
}

// Len returns how many elements a rank has in the window, 0 if there is no such rank.
func (w *Win[T]) Len(rank int) int {
	if w.open() == nil || rank < 0 || rank >= len(w.targets) {
		return 0
	}
	return w.targets[rank].length
}

// WithContext returns the same window with a context: blocking calls on it return when ctx ends, with an error that wraps
// ctx's, even if other goroutines wait on the same window. Operations that were started go on: the buffers of Put, Get,
// Accumulate and so on are in use until a Flush of that rank has succeeded, and an accumulate may have taken effect wholly,
// in part, or not yet. A Lock or LockAll that ctx ends has not taken the lock. Unlock, UnlockAll and Free ignore ctx.
// WithContext of a nil window returns nil.
func (w *Win[T]) WithContext(ctx context.Context) *Win[T] {
	if w.open() == nil {
		return nil
	}
	with := *w.window
	with.c = w.c.WithContext(ctx)
	return &Win[T]{&with, w.mem}
}

// recordSize is the size of a rank's record of its part of a window: a random number, of which rank 0's identifies the
// window, the mx handles of the memory and of the lock's word, and size and kind of the elements.
const recordSize = 8 + 2*mx.WindowHandleSize + 4 + 4

// newWindow exposes the memory, and exchanges records with the other ranks. trouble is the reason why there is no
// memory.
func newWindow[T any](c *Comm, op string, mem []byte, trouble error) (*window, error) {
	e := &exposed{mem: mem, size: elem.Size[T](), kind: kindOf[T](), c: c}
	if trouble == nil {
		trouble = e.open()
	}
	n := c.net(op)
	w, err := n.window(e, reflect.TypeFor[T](), trouble)
	return w, n.finish(err)
}

// window makes a window of the memory of all ranks. The other ranks get this rank's trouble with its record, so that
// none of them waits. It is one collective: a rank that gives it up at any step has called as many collectives as the
// others.
func (n *net) window(e *exposed, element reflect.Type, trouble error) (*window, error) {
	own, all := e.record(), make([]byte, recordSize*n.Size())
	var err error
	if n.checked() {
		err = n.agree(n, deed{element: element, count: varied})
	}
	n.several()
	if err == nil {
		err = shareRecords(n, own, all)
	}
	if err != nil {
		e.close()
		err = n.fail(err, func(rest coll.Net) error { return shareRecords(rest, own, all) })
		return nil, n.failRound(err)
	}
	w, err := e.window(n.op, all, trouble)
	if err != nil {
		e.close()
		return nil, err // all know
	}
	e.c.seat.job.control.expose(w.key(), e)
	// All have come: whoever left now would leave others with a window that it has not.
	c, made := n.c, n.turn
	n.c = c.WithContext(noContext)
	turn, err := n.context() // no rank has it, and sends questions, before all are exposed
	if err != nil {
		w.withdraw()
		return nil, err
	}
	w.c = c.derive(turn, c.world, fmt.Sprintf("%s.window%d", c.Name(), made))
	e.mu.Lock()
	e.own = w.c
	e.mu.Unlock()
	return w, nil
}

// shareRecords sends the records of all ranks to all ranks.
func shareRecords(n coll.Net, own, all []byte) error {
	return coll.Allgather(n, own, all, coll.Equal(recordSize), coll.Bruck)
}

// window makes the window from the records of all ranks. The receiver is the memory of this rank.
func (e *exposed) window(op string, all []byte, trouble error) (*window, error) {
	c := e.c
	if trouble != nil {
		if errors.Is(trouble, mx.ErrBadSegMem) {
			return nil, c.failWith(op, Undefined, Undefined, ErrCount, trouble)
		}
		return nil, c.broken(op, Undefined, Undefined, trouble)
	}
	w := &window{c: c, size: e.size, kind: e.kind, exposed: e, state: &windowState{}, targets: make([]target, c.Size())}
	w.id = binary.LittleEndian.Uint64(all)
	for rank := range w.targets {
		if err := w.learn(rank, all[rank*recordSize:][:recordSize]); err != nil {
			return nil, c.failWith(op, rank, Undefined, ErrMismatch, err)
		}
	}
	return w, nil
}

// key returns the key of this rank's memory.
func (w *window) key() windowKey { return windowKey{w.id, int(w.c.world[w.c.rank])} }

// record encodes the rank's record. A handle without a window means that the rank could not expose its memory.
func (e *exposed) record() []byte {
	b := make([]byte, 8, recordSize)
	_, _ = rand.Read(b)
	var mem, word mx.WindowHandle
	if e.win != nil {
		mem, word = e.win.Handle(), e.word.handle()
	}
	b, _ = mem.AppendBinary(b)
	b, _ = word.AppendBinary(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(e.size))
	return binary.LittleEndian.AppendUint32(b, uint32(e.kind))
}

// learn decodes the record of another rank.
func (w *window) learn(rank int, record []byte) error {
	t, handles := &w.targets[rank], record[8:]
	err := cmp.Or(t.handle.UnmarshalBinary(handles[:mx.WindowHandleSize]), t.word.UnmarshalBinary(handles[mx.WindowHandleSize:2*mx.WindowHandleSize]))
	if err != nil {
		return err
	}
	if t.handle == (mx.WindowHandle{}) {
		return errors.New("that rank could not open its memory; it says why")
	}
	rest := handles[2*mx.WindowHandleSize:]
	size, kind := int(binary.LittleEndian.Uint32(rest)), mx.AtomicType(binary.LittleEndian.Uint32(rest[4:]))
	switch {
	case size != w.size:
		return fmt.Errorf("its elements have %d bytes, those of rank %d have %d: all ranks must use the same type", size, w.c.rank, w.size)
	case kind != w.kind:
		return fmt.Errorf("its elements are of another kind than those of rank %d, of %d bytes as well: all ranks must use the same type", w.c.rank, size)
	}
	t.length = int(t.handle.Length) / size
	return nil
}

// Free ends the window, when all ranks have called it and all operations on it are complete (MPI_Win_free). It is
// collective, and ignores the context. The communicator may have been freed before. All locks must have been given
// back. Errors: ErrWin if the window was freed before or a lock is held, and those of Fence, in which case the window
// is freed nevertheless.
func (w *Win[T]) Free() error {
	if err := w.open().usable("Free", Undefined); err != nil {
		if errors.Is(err, ErrAborted) && !w.state.freed.Swap(true) {
			w.giveBack()
		}
		return err
	}
	for rank := range w.targets {
		if !w.targets[rank].idle() {
			return w.fail("Free", rank, ErrWin, errors.New("its lock is held: call Unlock first"))
		}
	}
	patient := w.patient()
	err := patient.each("Free", func(rank int) error { return patient.flush("Free", rank, false) })
	// A rank whose Free has failed, since a rank has died, has freed the window before all meet. What it refuses then is what is left of
	// calls that were given up: why they don't meet is the error.
	if meet := patient.c.meet("Win.Free"); err == nil || meet != nil && errors.Is(err, ErrWin) {
		err = meet
	}
	w.state.freed.Store(true)
	w.giveBack()
	_ = w.c.Free() // it fails if the job has ended meanwhile, and nothing is left to be given back
	return err
}

// giveBack ends the exposure of this rank's memory, and frees that of WinAllocate.
func (w *Win[T]) giveBack() {
	w.withdraw()
	if w.owned != nil {
		_ = mx.Free(w.owned)
	}
}

// patient returns the window without a context, for calls that undo something.
func (w *window) patient() *window {
	if w.c.ctx == nil {
		return w
	}
	without := *w
	without.c = w.c.WithContext(noContext)
	return &without
}

// withdraw ends the exposure of this rank's memory.
func (w *window) withdraw() {
	w.c.seat.job.control.withdraw(w.key())
	w.exposed.close()
}
