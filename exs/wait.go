package exs

import (
	"sync"
	"sync/atomic"
	"time"

	"gomx/internal/labels"
	"gomx/mx"
)

// A call of this package that waits blocks in the endpoint, which makes progress meanwhile. The goroutine that polls runs the
// handlers of the library: unexpected for unexpected messages, and dispatch for completed requests. The handlers wake the
// goroutines that wait for operations that have ended.

// condition is what a goroutine waits for.
type condition interface{ ready() bool }

// wait blocks at a waiter until c is ready or the timeout has passed, and reports whether c is ready. The goroutine that
// makes c ready wakes the waiter. Once c was ready it is not asked again: another goroutine may have taken what made it so.
func (l *Library) wait(w *mx.Waiter, c condition, timeout time.Duration) bool {
	for timeout == Infinite {
		if c.ready() {
			return true
		}
		if !l.blocked(w, Infinite) {
			return c.ready()
		}
	}
	switch { // the clock is not read if a single pass suffices
	case c.ready():
		return true
	case !l.blocked(w, 0), timeout <= 0:
		return c.ready()
	case c.ready():
		return true
	}
	deadline := time.Now().Add(timeout)
	for left := timeout; left > 0 && l.blocked(w, left); left = time.Until(deadline) {
		if c.ready() {
			return true
		}
	}
	return c.ready()
}

// blocked waits until a waiter is woken. It returns false if the library is closed, and all operations have ended.
func (l *Library) blocked(w *mx.Waiter, timeout time.Duration) bool {
	if _, err := w.Wait(timeout); err == nil {
		return true
	}
	<-l.over
	return false
}

// waitList is a wait list: any number of goroutines wait in it for the same event.
type waitList struct {
	n       atomic.Int32
	passive bool // they sleep, and others make progress for them
	mu      sync.Mutex
	all     []*mx.Waiter
	spare   []*mx.Waiter
}

// waitIn is wait in a wait list.
func (l *Library) waitIn(list *waitList, c condition, timeout time.Duration) bool {
	if c.ready() {
		return true
	}
	w := list.enter(l.ep.Load())
	defer list.exit(w)
	return l.wait(w, c, timeout)
}

func (list *waitList) enter(ep *mx.Endpoint) *mx.Waiter {
	list.mu.Lock()
	defer list.mu.Unlock()
	if len(list.spare) == 0 {
		w := ep.NewWaiter
		if list.passive {
			w = ep.NewPassiveWaiter
		}
		list.spare = append(list.spare, w())
	}
	last := len(list.spare) - 1
	w := list.spare[last]
	list.spare = list.spare[:last]
	list.all = append(list.all, w)
	list.n.Add(1)
	return w
}

func (list *waitList) exit(w *mx.Waiter) {
	list.mu.Lock()
	defer list.mu.Unlock()
	for i := range list.all {
		if list.all[i] == w {
			last := len(list.all) - 1
			list.all[i] = list.all[last]
			list.all = list.all[:last]
			break
		}
	}
	list.n.Add(-1)
	list.spare = append(list.spare, w)
}

// wake wakes all goroutines of the list, which then check their conditions.
func (list *waitList) wake() {
	if list.n.Load() == 0 {
		return
	}
	list.mu.Lock()
	defer list.mu.Unlock()
	for _, w := range list.all {
		w.Wake()
	}
}

// watch starts a goroutine that waits for ever, so that the endpoint makes progress at once while the program makes no
// calls. Without that goroutine progress would begin some milliseconds later.
func (l *Library) watch() {
	l.watcher.Do(func() {
		go func() {
			labels.ForEndpoint("exs progress", l.ep.Load().ID()).Set()
			for w := l.ep.Load().NewPassiveWaiter(); l.blocked(w, Infinite); {
			}
		}()
	})
}

// post makes a request complete into the library's completion queue.
func (l *Library) post(r mx.Request, err error) (mx.Request, error) {
	if err == nil {
		err = l.done.Add(r)
	}
	return r, err
}

// completer is the context of requests that belong to no operation.
type completer interface{ completed(st *mx.Status) }

// dispatch is the progress callback for completed requests. The endpoint calls it in the goroutine that makes progress.
func (l *Library) dispatch(done []mx.Completion) {
	for i := range done {
		st := &done[i].Status
		switch c := st.Context.(type) {
		case *op:
			c.s.completed(c, done[i].Request, st)
		case completer:
			c.completed(st)
		}
	}
}
