//go:build linux

package exs_test

import (
	"errors"
	"testing"

	"gomx/exs"
	"gomx/internal/testlength"
)

// A process is killed while receives wait for it and sends are on their way. All of them
// end with ECONNRESET, and so do later calls, over each medium.
func TestKilled(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	for _, medium := range []string{"shm", "tcp", "rdma"} {
		for _, kind := range []string{packets, streams} {
			t.Run(medium+"/"+kind, func(t *testing.T) { killed(t, medium, kind) })
		}
	}
}

func killed(t *testing.T, medium, kind string) {
	before := deviceHolds(t)
	c := gather(t, medium, kind, busy)
	c.everyone()
	c.ok(c.sockets[0].BlockingClose())
	rest := c.sockets[1:]
	for i, s := range rest {
		_, err := s.Recv(c.in[i], 0, c.q, nil, exs.Unregistered)
		c.ok(err)
	}
	c.server.Kill()
	for range rest {
		n, err := c.q.Dequeue(c.events[:1], bound)
		c.ok(err)
		if n != 1 || c.events[0].Errno != exs.ECONNRESET {
			t.Fatalf("%d events within %v, %v", n, bound, c.events[0].Errno)
		}
	}
	for _, s := range rest {
		if _, err := s.Send(c.out[0], 0, c.q, nil, exs.Unregistered); !errors.Is(err, exs.ECONNRESET) {
			t.Errorf("send: %v", err)
		}
		if _, err := s.Recv(c.in[0], 0, c.q, nil, exs.Unregistered); !errors.Is(err, exs.ECONNRESET) {
			t.Errorf("recv: %v", err)
		}
		c.ok(s.BlockingClose())
	}
	c.ok(c.l.Close())
	settles(t, before)
}
