package service_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"gomx/mpi/internal/service"
)

// The kinds of the tests of waits that are given up.
const (
	stand service.Kind = iota + 100
	large
)

// standing has server 1 stand still in a handler until ahead is called. No question or note behind is handled meanwhile.
func standing(t *testing.T, servers []*server) (ahead func()) {
	t.Helper()
	stands := make(chan struct{})
	release := make(chan struct{})
	for _, d := range servers { // the endpoints are the services' own, and nothing has been asked yet
		d.Handle(stand, 0, func(*service.Question) {
			close(stands)
			<-release
		})
		d.Handle(large, 0, func(q *service.Question) { q.Answer([]byte("large"), make([]byte, 60_000)) })
	}
	if err := servers[0].Tell(within(t), 1, stand, nil, nil); err != nil {
		t.Fatal(err)
	}
	<-stands
	ahead = sync.OnceFunc(func() { close(release) })
	t.Cleanup(ahead)
	return ahead
}

// until waits for a condition.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(bound); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not come about that", what)
		}
	}
}

// idle returns how many requests a service has in use while it waits for questions.
func idle(t *testing.T, d *server) uint64 {
	t.Helper()
	until(t, "the service listens", func() bool { return d.Count("posted receives") == 2 })
	return d.Count("requests in use")
}

// ended is a context that has ended.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// TestGivenUpCallsLeaveNothing: however many calls are given up, with however large a text, nothing of them stays with who has
// asked once the other process has gone on.
func TestGivenUpCallsLeaveNothing(t *testing.T) {
	over(t, func(t *testing.T, servers []*server) {
		ahead := standing(t, servers)
		a := servers[0]
		requests := idle(t, a)
		for i := range 300 {
			kind, data := echo, make([]byte, i%2*62<<10)
			if i%3 == 0 {
				kind = large
			}
			if i%5 == 0 {
				if err := a.Tell(ended(), 1, note, []byte("head"), data); err != nil && !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				continue
			}
			if _, err := a.Call(ended(), 1, kind, nil, data, make([]byte, 64<<10)); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		ahead()
		until(t, "all requests of the calls that were given up are free", func() bool {
			answer := make([]byte, 9)
			if n, err := a.Call(within(t), 1, echo, nil, nil, answer); err != nil || string(answer[:n]) != "0:" {
				t.Fatalf("a call behind them: %q, %v", answer[:n], err)
			}
			return a.Count("requests in use") <= requests && servers[1].Count("requests in use") <= requests
		})
		for _, d := range servers[:2] {
			if n := d.Count("unexpected messages"); n != 0 {
				t.Errorf("%d late answers are kept", n)
			}
		}
	})
}

// TestHeadIsFreeAfterwards: a note that was given up says what its head said when it was told.
func TestHeadIsFreeAfterwards(t *testing.T) {
	over(t, func(t *testing.T, servers []*server) {
		ahead := standing(t, servers)
		head, data, many := make([]byte, 8), make([]byte, 62<<10), 5
		for i := range many {
			copy(head, fmt.Sprintf("%8d", i))
			if err := servers[0].Tell(ended(), 1, note, head, data); err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}
		copy(head, "changed!")
		ahead()
		for i := range many {
			select {
			case s := <-servers[1].notes:
				if want := fmt.Sprintf("%8d%s", i, data); s != want {
					t.Fatalf("note %d is %.8q and %d bytes", i, s, len(s)-8)
				}
			case <-time.After(bound):
				t.Fatal("a note that was told is not heard")
			}
		}
	})
}

// TestPost: a note that nobody waits for comes behind what was told, and waits for nothing.
func TestPost(t *testing.T) {
	over(t, func(t *testing.T, servers []*server) {
		servers[2].Post(1, note, []byte("from a stranger"))
		ahead := standing(t, servers)
		data := make([]byte, 62<<10)
		for range 3 {
			_ = servers[0].Tell(ended(), 1, note, []byte("told"), data)
			head := []byte("posted")
			servers[0].Post(1, note, head)
			clear(head)
		}
		servers[0].Post(0, note, []byte("own"))
		if s := <-servers[0].notes; s != "own" {
			t.Errorf("the own process hears %q", s)
		}
		ahead()
		for i := range 6 {
			want := "posted"
			if i%2 == 0 {
				want = "told" + string(data)
			}
			select {
			case s := <-servers[1].notes:
				if s != want {
					t.Fatalf("note %d is %.8q, want %.8q", i, s, want)
				}
			case <-time.After(bound):
				t.Fatal("a note is not heard")
			}
		}
	})
}

// TestConnectingEndsWithEachContext: of two who ask a process that is not connected yet and says nothing, each waits as long as
// its own context says; and the patient one is answered when the process can be reached.
func TestConnectingEndsWithEachContext(t *testing.T) {
	over(t, func(t *testing.T, servers []*server) {
		hear := servers[1].Mute(t)
		requests := idle(t, servers[0])
		first := make(chan error, 1)
		go func() {
			_, err := servers[0].Call(within(t), 1, echo, nil, nil, make([]byte, 9))
			first <- err
		}()
		until(t, "the first call connects", func() bool { return servers[0].Count("requests in use") > requests })
		hasty, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		second := make(chan error, 1)
		go func() {
			_, err := servers[0].Call(hasty, 1, echo, nil, nil, make([]byte, 9))
			second <- err
		}()
		select {
		case err := <-second:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		case <-first:
			t.Error("the patient call has ended")
		case <-time.After(bound):
			t.Error("the hasty call waits with the patient one")
		}
		hear()
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}

// TestLateAnswerOfTheOwnProcess: an answer that comes when its call was given up is nobody else's.
func TestLateAnswerOfTheOwnProcess(t *testing.T) {
	d := newServer(service.Local(0))
	if err := d.Begin(nil); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := d.Call(ended(), 0, later, nil, nil, make([]byte, 9)); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		(<-d.kept).Answer([]byte("late"), nil)
		answer := make([]byte, 9)
		if n, err := d.Call(t.Context(), 0, echo, []byte("x"), nil, answer); err != nil || !bytes.Equal(answer[:n], []byte("0:x")) {
			t.Fatalf("%q, %v", answer[:n], err)
		}
	}
}
