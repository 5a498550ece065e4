package exs_test

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"gomx/exs"
	"gomx/internal/testlength"
)

// A client that a listener has sent away comes again until it is let in, more often than it would dial one that hangs up without a word. That is so
// before it was greeted, when it is told so, and behind that, when the listener hangs up.
func TestSentAway(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	const times = 8
	for name, refuse := range map[string]func(client, listener net.Conn){
		"told so": func(client, _ net.Conn) { _, _ = client.Write(sentAway()) },
		"greeted": func(client, listener net.Conn) {
			hello := make([]byte, 72)
			_, _ = io.ReadFull(client, hello)
			_, _ = listener.Write(hello)
			_, _ = io.ReadFull(listener, hello)
			_, _ = client.Write(hello)
			_, _ = io.ReadFull(client, make([]byte, 1)) // it has come to the endpoint
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "mem")
			ln := w.listens()
			var came atomic.Int32
			at := w.faker(func(client net.Conn) {
				listener, err := net.Dial("tcp", ln.Addr().String())
				if err != nil {
					t.Error(err)
					return
				}
				defer listener.Close()
				if came.Add(1) <= times {
					refuse(client, listener)
					return
				}
				go func() {
					_, _ = io.Copy(listener, client)
					_ = listener.Close()
				}()
				_, _ = io.Copy(client, listener)
			})
			ctx, stop := context.WithTimeout(t.Context(), 2*bound)
			defer stop()
			c, err := w.here.DialContext(ctx, "exs", at)
			w.ok(err)
			defer c.Close()
			if n := came.Load(); n != times+1 {
				t.Errorf("it came %d times", n)
			}
			d, err := ln.Accept()
			w.ok(err)
			defer d.Close()
			_, err = c.Write([]byte("here"))
			w.ok(err)
			got := make([]byte, 4)
			_, err = io.ReadFull(d, got)
			w.ok(err)
			w.same(got, []byte("here"))
		})
	}
}

// sentAway is what a listener says to a client that is to come again.
func sentAway() []byte {
	hello := append([]byte("gomx exs\x01\x00\x00\x04"), make([]byte, 60)...)
	hello[36] = exs.DefaultCredits
	return hello
}
