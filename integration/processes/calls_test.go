//go:build linux

package processes_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
	"gomx/mx"
)

// limiting are the methods that take a time and wait for nothing; TestEveryCallThatWaits tries them in its own way. TestConnectContextsEnds has its own.
var limiting = []string{"Endpoint.SetRequestTimeout", "Endpoint.ConnectContexts"}

// TestTableOfCallsThatWait: every method of package mx that takes a context or a time is in the table.
func TestTableOfCallsThatWait(t *testing.T) {
	table := slices.Clone(limiting)
	for _, w := range blockings() {
		table = append(table, w.name)
	}
	found := map[string]bool{}
	for _, typ := range typesOf(reflect.TypeOf(mx.OpenEndpoint), reflect.TypeOf(mx.NewQueue)) {
		for i := range typ.NumMethod() {
			m := typ.Method(i)
			name := strings.TrimPrefix(typ.String(), "*mx.") + "." + m.Name
			if takesLimit(m.Type) {
				if found[name] = true; !slices.Contains(table, name) {
					t.Errorf("%s takes a context or a time, and is not in the table", name)
				}
			}
		}
	}
	for _, name := range table {
		if !found[name] {
			t.Errorf("%s is in the table, and is no method that takes a context or a time", name)
		}
	}
}

func takesLimit(f reflect.Type) bool {
	for in := range f.Ins() {
		if in == reflect.TypeFor[context.Context]() || in == reflect.TypeFor[time.Duration]() {
			return true
		}
	}
	return false
}

// typesOf returns pointers to all types of package mx that functions, and methods of what these return, take or return.
func typesOf(functions ...reflect.Type) (types []reflect.Type) {
	for todo := functions; len(todo) > 0; {
		f := todo[0]
		todo = todo[1:]
		for typ := range func(yield func(reflect.Type) bool) {
			for in := range f.Ins() {
				if !yield(in) {
					return
				}
			}
			for out := range f.Outs() {
				if !yield(out) {
					return
				}
			}
		} {
			for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice {
				typ = typ.Elem()
			}
			p := reflect.PointerTo(typ)
			if typ.PkgPath() != "gomx/mx" || slices.Contains(types, p) {
				continue
			}
			types = append(types, p)
			for i := range p.NumMethod() {
				todo = append(todo, p.Method(i).Type)
			}
		}
	}
	return types
}

// TestEveryCallThatWaits: calls return in time whatever their peer does, what they have started is right afterwards or has ended, and nothing is
// left of it. Large messages need the partner, for nobody copies them from its memory.
func TestEveryCallThatWaits(t *testing.T) {
	testlength.Long(t)
	aboutShm(t)
	if testing.Short() {
		asked = 20 * time.Millisecond
	}
	withoutSingleCopies(t)
	warmUp(t)
	before, goroutines := proc.Held(t), runtime.NumGoroutine()
	t.Run("with a peer", func(t *testing.T) {
		for _, media := range []string{"shm", "tcp"} {
			table := blockings()
			for _, peer := range []string{isStopped, isSlow} {
				alongside(t, media+" "+peer, func(t *testing.T) { tryCalls(t, media, peer, table...) })
				alongside(t, media+" "+peer+", others", func(t *testing.T) { tryOthers(t, media, peer) })
			}
			alongside(t, media+" "+isKilled+", others", func(t *testing.T) { tryOthers(t, media, isKilled) })
			for i, w := range table {
				if !testing.Short() || i%12 == 0 { // each costs a process
					alongside(t, media+" "+isKilled+" "+w.name+" "+w.note, func(t *testing.T) { tryCalls(t, media, isKilled, w) })
				}
			}
		}
	})
	if now := settled(t, before); now.Descriptors > before.Descriptors || now.Mappings > before.Mappings {
		t.Errorf("held before: %+v, after closing: %+v", before, now)
	}
	for end := time.Now().Add(promise); runtime.NumGoroutine() > goroutines; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), goroutines)
		}
	}
}

// withoutSingleCopies has large messages of this process and its children go through the ring until the test ends.
func withoutSingleCopies(t *testing.T) {
	_ = mx.Finalize()
	t.Setenv("MX_SINGLE_COPY", "0")
	t.Setenv("MX_ARENA", "0")
	t.Cleanup(func() {
		if err := mx.Finalize(); err != nil {
			t.Error(err)
		}
	})
	initialize(t)
}

// alongside runs a part of a test beside others: they wait most of the time.
func alongside(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		f(t)
	})
}

func newScene(t *testing.T, media, peer string) *scene {
	for _, info := range mx.Transports() {
		if info.Name == media && !info.Available {
			t.Skipf("no %s on this machine: %s", media, info.Reason)
		}
	}
	over := mx.WithTransports(media, "self")
	return &scene{t: t, media: media, peer: peer, ep: open(t, over), other: open(t, over), nic: board(t), large: largeOf(media)}
}

func tryCalls(t *testing.T, media, peer string, table ...blocking) {
	s := newScene(t, media, peer)
	s.meet()
	for _, w := range table {
		s.begin()
		s.leave()
		s.try(w)
		if peer == isKilled {
			s.child.Kill() // the call may have returned before
		}
		s.giveUp()
		s.settle()
		if t.Failed() {
			t.Fatalf("%s %s", w.name, w.note)
		}
	}
}

// way is one of the ways to end a call.
type way struct {
	name    string
	ctx     context.Context
	timeout time.Duration
	least   time.Duration
	want    error // errors.Is; nil: none
}

// try makes a call, and has it ended by each thing that ends it.
func (s *scene) try(w blocking) {
	s.t.Helper()
	if w.timed {
		s.ends(w, way{"time", nil, asked, asked, w.late})
	}
	if w.contextual && !(w.timed && s.peer == isKilled) { // a partner dies once
		ctx, cancel := context.WithTimeout(context.Background(), asked)
		s.ends(w, way{"context", ctx, mx.Infinite, asked / 2, w.orSilent(context.DeadlineExceeded)})
		cancel()
		ctx, cancel = context.WithCancel(context.Background())
		cancel()
		s.ends(w, way{"ended context", ctx, mx.Infinite, 0, w.orSilent(context.Canceled)})
	}
	if s.peer == isKilled {
		return
	}
	stop := s.repeat(s.ep.Wakeup)
	s.ends(w, way{"Wakeup", context.Background(), mx.Infinite, 0, w.woken})
	stop()
}

func (w blocking) orSilent(err error) error {
	if w.silent {
		return nil
	}
	return err
}

// repeat does something again and again until stop is called: a call that has not started yet does not hear it.
func (s *scene) repeat(f func()) (stop func()) {
	over := make(chan struct{})
	var end sync.WaitGroup
	end.Go(func() {
		for {
			select {
			case <-over:
				return
			case <-time.After(10 * time.Millisecond):
				f()
			}
		}
	})
	return func() { close(over); end.Wait() }
}

// ends makes a call, and looks how it ends.
func (s *scene) ends(w blocking, by way) {
	s.t.Helper()
	if s.peer == isKilled {
		defer time.AfterFunc(asked/4, s.child.Kill).Stop()
	}
	helped := time.AfterFunc(10*inTime, s.resume) // so that the test ends
	var begin time.Time
	var took time.Duration
	var done bool
	var err error
	for again := true; again; again = done && err == nil && s.peer == isStopped { // what it has sent before may complete requests
		begin = time.Now()
		done, err = w.call(s, by.ctx, by.timeout)
		took = time.Since(begin)
	}
	helped.Stop()
	what := fmt.Sprintf("%s %s, ended by %s, %s partner, after %v", w.name, w.note, by.name, s.peer, took)
	switch {
	case took > by.least+inTime:
		s.t.Errorf("%s: too late", what)
	case s.peer == isKilled && done, s.peer == isKilled && strings.Contains(w.name, "Connect") &&
		(errors.Is(err, mx.ErrConnectionFailed) || errors.Is(err, mx.ErrBadConnectionKey)): // its id may be another program's by now
	case err == nil && done, errors.Is(err, by.want) && done: // of several some
	case !errors.Is(err, by.want):
		s.t.Errorf("%s: done %v, error %v, want %v", what, done, err, by.want)
	case took < by.least && (by.ctx == nil || by.ctx.Err() == nil): // a context may have ended while the call was about to begin
		s.t.Errorf("%s: too early", what)
	}
}
