package mpi

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gomx/mpi/internal/hang"
	"gomx/mx"
)

// longWait is a call that has blocked for a while: it was woken up once, and waits still.
type longWait struct {
	c     *Comm
	call  string
	any   bool // one of the requests is enough
	reqs  []mx.Request
	needs []hang.Need // what it waits for if that is no requests
	since time.Time
	id    uint64
	ctx   context.Context // may end it; nil: none
}

// longWaits are those of a seat.
type longWaits struct {
	mu   sync.Mutex
	list map[*longWait]struct{}
}

// lastWait numbers the waits of the process.
var lastWait atomic.Uint64

// enter notes that a call blocks, until leave, or until ctx ends. A hang report may look at the requests even later.
func (l *longWaits) enter(ctx context.Context, c *Comm, call string, reqs []mx.Request, any bool) *longWait {
	return l.add(&longWait{ctx: ctx, c: c, call: call, reqs: slices.Clone(reqs), any: any})
}

// enterNeed is enter for a call that waits for what is no request of mx, and heeds the context of the communicator.
func (l *longWaits) enterNeed(c *Comm, call string, needs ...hang.Need) *longWait {
	for i := range needs {
		needs[i].Op, needs[i].Comm = call, c.identity()
	}
	return l.add(&longWait{ctx: c.ctx, c: c, call: call, needs: needs})
}

func (l *longWaits) add(w *longWait) *longWait {
	w.since, w.id = time.Now(), lastWait.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.list == nil {
		l.list = map[*longWait]struct{}{}
	}
	l.list[w] = struct{}{}
	return w
}

// leave notes that it does not any more.
func (l *longWaits) leave(w *longWait) {
	if w == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.list, w)
}

func (l *longWaits) all() (list []*longWait) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for w := range l.list {
		list = append(list, w)
	}
	return list
}

// knownComms are the communicators of a seat, by their contexts.
type knownComms struct {
	mu    sync.Mutex
	of    map[uint32]*Comm
	freed map[uint32]*Comm // those with operations that were pending when one was last freed
}

func (k *knownComms) add(c *Comm) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil {
		k.of = map[uint32]*Comm{}
	}
	k.of[c.state.context] = c
}

// remove removes a communicator that is freed. pending are the contexts of the operations that are.
func (k *knownComms) remove(c *Comm, pending map[uint32]bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.of, c.state.context)
	maps.DeleteFunc(k.freed, func(context uint32, _ *Comm) bool { return !pending[context] })
	if pending[c.state.context] {
		if k.freed == nil {
			k.freed = map[uint32]*Comm{}
		}
		k.freed[c.state.context] = c
	}
}

// all returns those that are not freed.
func (k *knownComms) all() (list []*Comm) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.of {
		list = append(list, c)
	}
	return list
}

// withFreed returns also those that are freed, and that an operation may still be pending on.
func (k *knownComms) withFreed() []*Comm {
	list := k.all()
	k.mu.Lock()
	defer k.mu.Unlock()
	for context, c := range k.freed {
		if k.of[context] == nil {
			list = append(list, c)
		}
	}
	return list
}
