package mx_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"gomx/mx"
)

// Wakeup of a context ends its connect, whichever context of the endpoint is being connected at that moment.
func TestWakeupEndsAConnectOfOtherContexts(t *testing.T) {
	connects := map[string]func(ep *mx.Endpoint, nic uint64, id uint32) error{
		"Connect": func(ep *mx.Endpoint, nic uint64, id uint32) error {
			_, err := ep.Connect(nic, id, testFilter, mx.Infinite)
			return err
		},
		"ConnectContext": func(ep *mx.Endpoint, nic uint64, id uint32) error {
			_, err := ep.ConnectContext(context.Background(), nic, id, testFilter)
			return err
		},
		"ConnectAll": func(ep *mx.Endpoint, nic uint64, id uint32) error {
			_, err := ep.ConnectAll(context.Background(), []mx.PeerName{{NIC: nic, Endpoint: id, Filter: testFilter}})
			return err
		},
	}
	for name, connect := range connects {
		for _, from := range []int{0, 2} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t, "mem")
				server, several := w.open(mx.Passive()), w.open(mx.WithContexts(3))
				l, err := server.Listen()
				if err != nil {
					t.Fatal(err)
				}
				go func() { // accepts the first context, and leaves the others waiting
					if r, err := l.Wait(context.Background(), mx.Infinite); err == nil {
						_, _ = r.Accept(nil)
					}
				}()
				caller, err := several.ContextAt(from)
				if err != nil {
					t.Fatal(err)
				}
				nic, id := place(t, server)
				ended := make(chan error)
				go func() { ended <- connect(caller, nic, id) }()
				for {
					select {
					case err := <-ended:
						if !errors.Is(err, mx.ErrTimeout) {
							t.Error(err)
						}
						return
					case <-time.After(20 * time.Millisecond):
						caller.Wakeup()
					}
				}
			})
		}
	}
}

// One Wakeup ends all that a ConnectAll has begun.
func TestWakeupEndsAWholeConnectAll(t *testing.T) {
	w := newWorld(t, "mem")
	server, several := w.open(mx.Passive()), w.open(mx.WithContexts(3))
	l, err := server.Listen()
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan struct{})
	go func() { // accepts the first context, and leaves the others waiting
		for i := range 2 {
			r, err := l.Wait(context.Background(), mx.Infinite)
			if err != nil {
				return
			}
			if i == 0 {
				_, _ = r.Accept(nil)
			}
		}
		close(asked)
	}()
	nic, id := place(t, server)
	peer, ended := mx.PeerName{NIC: nic, Endpoint: id, Filter: testFilter}, make(chan error)
	go func() {
		_, err := several.ConnectAll(context.Background(), []mx.PeerName{peer, peer, peer})
		ended <- err
	}()
	<-asked
	several.Wakeup()
	select {
	case err := <-ended:
		if all, ok := errors.AsType[mx.ConnectAllError](err); !ok || len(all.Unwrap()) != 3 || !errors.Is(err, mx.ErrTimeout) {
			t.Error(err)
		}
	case <-time.After(bound):
		t.Error("one Wakeup does not end it")
	}
}
