package exs_test

import (
	"io"
	"net"
	"testing"

	"gomx/exs"
)

// A server that repeats what it hears is no listener of ours, though all that it says is what one says.
func TestConnectToAnEcho(t *testing.T) {
	eachType(t, func(w *world, typ int) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		w.ok(err)
		w.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					_, _ = io.Copy(c, c)
					_ = c.Close()
				}()
			}
		}()
		s := w.socket(w.here, typ)
		w.within("the connect", func() { err = s.BlockingConnect(l.Addr().(*net.TCPAddr).AddrPort()) })
		refused(w, err, exs.EPROTO)
		w.ok(s.BlockingClose())
	})
}
