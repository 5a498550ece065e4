package service_test

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestWhoeverIsGivenUpIsNotWaitedFor: calls to a process end as soon as somebody says that it is gone, those that begin later too,
// though it lives and only does not answer.
func TestWhoeverIsGivenUpIsNotWaitedFor(t *testing.T) {
	over(t, func(t *testing.T, servers []*server) {
		ahead := standing(t, servers)
		gone := errors.New("it is gone")
		ends := make(chan error, 4)
		call := func(ctx context.Context) {
			_, err := servers[0].Call(ctx, 1, echo, nil, nil, make([]byte, 10))
			ends <- err
		}
		before := servers[0].Count("requests in use")
		go call(context.Background()) // which nothing else ends
		go call(t.Context())
		until(t, "both wait", func() bool { return servers[0].Count("requests in use") >= before+2 })
		woken := time.NewTicker(10 * time.Millisecond) // a wait that is just about to start may miss it once
		defer woken.Stop()
		servers[0].Lose(1, gone)
		for n := 0; n < 2; {
			select {
			case err := <-ends:
				if n++; !errors.Is(err, gone) {
					t.Errorf("error %v, want %q", err, gone)
				}
			case <-woken.C:
				servers[0].Wakeup()
			case <-time.After(bound):
				t.Fatal("a call waits for a process that is gone")
			}
		}
		if _, err := servers[0].Call(context.Background(), 1, echo, nil, nil, make([]byte, 10)); !errors.Is(err, gone) {
			t.Errorf("a later call: error %v, want %q", err, gone)
		}
		gone = errors.New("killed, as is known by now")
		servers[0].Lose(1, gone)
		if err := servers[0].Tell(context.Background(), 1, note, nil, nil); !errors.Is(err, gone) {
			t.Errorf("a note: error %v, want %q", err, gone)
		}
		if _, err := servers[0].Call(within(t), 2, echo, nil, nil, make([]byte, 10)); err != nil {
			t.Errorf("another process: %v", err)
		}
		servers[0].Post(1, note, []byte("farewell")) // it hears this when it goes on, behind all else
		ahead()
		select {
		case text := <-servers[1].notes:
			if text != "farewell" {
				t.Errorf("it hears %q", text)
			}
		case <-time.After(bound):
			t.Error("it hears nothing")
		}
	})
}

// TestWakeupEndsNoCall: who is only woken up goes on waiting, with a context and without.
func TestWakeupEndsNoCall(t *testing.T) {
	over(t, func(t *testing.T, servers []*server) {
		ahead := standing(t, servers)
		ends := make(chan error, 2)
		before := servers[0].Count("requests in use")
		for _, ctx := range []context.Context{context.Background(), t.Context()} {
			go func() {
				_, err := servers[0].Call(ctx, 1, echo, nil, nil, make([]byte, 10))
				ends <- err
			}()
		}
		until(t, "both wait", func() bool { return servers[0].Count("requests in use") >= before+2 })
		for range 20 {
			servers[0].Wakeup()
			time.Sleep(time.Millisecond)
		}
		ahead()
		for range 2 {
			select {
			case err := <-ends:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(bound):
				t.Fatal("a call does not end")
			}
		}
	})
}
