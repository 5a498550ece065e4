package exs_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

// pour is how many bytes the benchmarks below move over a connection.
const pour = 64 << 20

// roads are ways to connect two ends.
var roads = []struct {
	name string
	make func(b *testing.B) (ln net.Listener, dial func() (net.Conn, error))
}{
	{"exs over shm", func(b *testing.B) (net.Listener, func() (net.Conn, error)) { return exsRoad(b, "shm") }},
	{"exs in one library", func(b *testing.B) (net.Listener, func() (net.Conn, error)) { return exsRoad(b, "one library") }},
	{"tcp", func(b *testing.B) (net.Listener, func() (net.Conn, error)) {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			b.Fatal(err)
		}
		return ln, func() (net.Conn, error) { return net.Dial("tcp", ln.Addr().String()) }
	}},
}

func exsRoad(b *testing.B, medium string) (net.Listener, func() (net.Conn, error)) {
	w := newWorld(b, medium)
	ln, err := w.there.Listen("exs", "127.0.0.1:0")
	w.ok(err)
	return ln, func() (net.Conn, error) {
		return w.here.Dial("exs", ln.Addr().String())
	}
}

// zeros is an endless source that costs nothing, a sink that costs nothing is io.Discard.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// BenchmarkCopy has io.Copy fill one end of a connection and empty the other.
func BenchmarkCopy(b *testing.B) {
	for _, k := range roads {
		b.Run(k.name, func(b *testing.B) {
			ln, dial := k.make(b)
			defer ln.Close()
			go func() {
				for {
					d, err := ln.Accept()
					if err != nil {
						return
					}
					_, _ = io.Copy(d, io.LimitReader(zeros{}, pour))
					_ = d.Close()
				}
			}()
			b.SetBytes(pour)
			for b.Loop() {
				c, err := dial()
				if err != nil {
					b.Fatal(err)
				}
				if n, err := io.Copy(io.Discard, onlyRead{c}); n != pour || err != nil {
					b.Fatal(n, err)
				}
				_ = c.Close()
			}
		})
	}
}

// onlyRead hides WriteTo.
type onlyRead struct{ io.Reader }

// BenchmarkDownload has net/http serve a file.
func BenchmarkDownload(b *testing.B) {
	name := filepath.Join(b.TempDir(), "file")
	if err := os.WriteFile(name, make([]byte, pour), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, k := range roads {
		b.Run(k.name, func(b *testing.B) {
			ln, dial := k.make(b)
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, name) })}
			go func() { _ = server.Serve(ln) }()
			defer server.Close()
			transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return dial() }}
			defer transport.CloseIdleConnections()
			client := &http.Client{Transport: transport}
			b.SetBytes(pour)
			for b.Loop() {
				r, err := client.Get("http://" + ln.Addr().String())
				if err != nil {
					b.Fatal(err)
				}
				if n, err := io.Copy(io.Discard, r.Body); n != pour || err != nil {
					b.Fatal(n, err)
				}
				_ = r.Body.Close()
			}
		})
	}
}
