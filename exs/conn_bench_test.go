package exs_test

import (
	"io"
	"net"
	"testing"
)

// BenchmarkEcho sends 64 bytes there and back, over Conns and over TCP. With two
// goroutines it needs two idle cores.
func BenchmarkEcho(b *testing.B) {
	for _, medium := range []string{"shm", "mem", "tcp"} {
		b.Run("exs over "+medium, func(b *testing.B) {
			w := newWorld(b, medium)
			c, d := w.conns()
			echoConns(b, c, d)
		})
	}
	b.Run("exs over shm, one goroutine", func(b *testing.B) {
		c, d := newWorld(b, "shm").conns()
		alone(b, c, d)
	})
	for _, k := range []struct {
		name string
		f    func(*testing.B, net.Conn, net.Conn)
	}{{"net over tcp", echoConns}, {"net over tcp, one goroutine", alone}} {
		b.Run(k.name, func(b *testing.B) {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				b.Fatal(err)
			}
			defer ln.Close()
			c, err := net.Dial("tcp", ln.Addr().String())
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close()
			d, err := ln.Accept()
			if err != nil {
				b.Fatal(err)
			}
			defer d.Close()
			k.f(b, c, d)
		})
	}
}

// alone has one goroutine do both sides' work: what they cost without a wait.
func alone(b *testing.B, c, d net.Conn) {
	buf := make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		for _, way := range [][2]net.Conn{{c, d}, {d, c}} {
			if _, err := way[0].Write(buf); err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadFull(way[1], buf); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func echoConns(b *testing.B, c, d net.Conn) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 64)
		for {
			if _, err := io.ReadFull(d, buf); err != nil {
				return
			}
			if _, err := d.Write(buf); err != nil {
				return
			}
		}
	}()
	buf := make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Write(buf); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(c, buf); err != nil {
			b.Fatal(err)
		}
	}
	_ = c.Close()
	<-done
}
