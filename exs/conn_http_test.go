package exs_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/rpc"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gomx/exs"
)

// web is a server of package net/http and a client, over a medium.
type web struct {
	*world
	server *http.Server
	client *http.Client
	url    string
	ended  chan error
	dials  atomic.Int32
}

func (w *world) web(h http.Handler) *web {
	w.Helper()
	ln := w.listens()
	x := &web{world: w, server: &http.Server{Handler: h}, url: "http://" + ln.Addr().String(), ended: make(chan error, 1)}
	transport := &http.Transport{MaxIdleConnsPerHost: clients, MaxConnsPerHost: clients}
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		x.dials.Add(1)
		return w.here.DialContext(ctx, network, address)
	}
	x.client = &http.Client{Transport: transport}
	go func() { x.ended <- x.server.Serve(ln) }()
	w.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = x.server.Close()
	})
	return x
}

func (x *web) get(path string) []byte {
	x.Helper()
	r, err := x.client.Get(x.url + path)
	if err != nil {
		x.Error(err)
		return nil
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		x.Errorf("%s: %s, %v", path, r.Status, err)
	}
	return body
}

func TestHTTP(t *testing.T) {
	for _, medium := range media {
		t.Run(medium, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, medium)
			large := pattern(8_000_000, 5)
			mux := http.NewServeMux()
			mux.HandleFunc("/hello/{name}", func(w http.ResponseWriter, r *http.Request) {
				fmt.Fprintf(w, "hello %s", r.PathValue("name"))
			})
			mux.HandleFunc("/large", func(w http.ResponseWriter, r *http.Request) { _, _ = w.Write(large) })
			mux.HandleFunc("/sum", func(w http.ResponseWriter, r *http.Request) {
				sum := sha256.New()
				n, err := io.Copy(sum, r.Body)
				fmt.Fprintf(w, "%d %v %x", n, err, sum.Sum(nil))
			})
			x := w.web(mux)
			x.concurrently(40)
			x.same(x.get("/large"), large)

			r, err := x.client.Post(x.url+"/sum", "application/octet-stream", bytes.NewReader(large))
			x.ok(err)
			got, _ := io.ReadAll(r.Body)
			_ = r.Body.Close()
			if want := fmt.Sprintf("%d <nil> %x", len(large), sha256.Sum256(large)); string(got) != want {
				t.Errorf("%q, want %q", got, want)
			}
			x.ok(x.server.Shutdown(context.Background()))
			if err := <-x.ended; !errors.Is(err, http.ErrServerClosed) {
				t.Error(err)
			}
			if _, err := x.client.Get(x.url + "/hello/nobody"); !errors.Is(err, exs.ECONNREFUSED) {
				t.Errorf("after the shutdown: %v", err)
			}
		})
	}
}

// clients is how many ask at the same time.
const clients = 8

// concurrently makes requests from all clients, and wants connections to be used again.
func (x *web) concurrently(each int) {
	x.Helper()
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			for j := range each {
				name := fmt.Sprintf("%d-%d", i, j)
				if got := x.get("/hello/" + name); string(got) != "hello "+name {
					x.Errorf("%q for %s", got, name)
				}
			}
		})
	}
	all.Wait()
	if n := x.dials.Load(); n > clients {
		x.Errorf("%d connections for %d clients", n, clients)
	}
}

// Service is what the RPC server offers.
type Service struct{}

// Repeat repeats.
func (Service) Repeat(a *Repetition, answer *string) error {
	if a.Times < 0 {
		return errors.New("how often?")
	}
	*answer = strings.Repeat(a.Text, a.Times)
	return nil
}

// Repetition says how often to repeat what.
type Repetition struct {
	Text  string
	Times int
}

func TestRPC(t *testing.T) {
	for _, medium := range media {
		t.Run(medium, func(t *testing.T) {
			w := newWorld(t, medium)
			server := rpc.NewServer()
			w.ok(server.Register(Service{}))
			ln := w.listens()
			go server.Accept(ln)
			c, err := w.here.Dial("exs", ln.Addr().String())
			w.ok(err)
			client := rpc.NewClient(c)
			defer client.Close()
			var all sync.WaitGroup
			for i := range 8 {
				all.Go(func() {
					for j := range 30 {
						var got string
						a := &Repetition{fmt.Sprint(i, ","), j * 300}
						if err := client.Call("Service.Repeat", a, &got); err != nil || got != strings.Repeat(a.Text, a.Times) {
							t.Errorf("%d bytes, %v", len(got), err)
						}
					}
				})
			}
			all.Wait()
			var got string
			if err := client.Call("Service.Repeat", &Repetition{"x", -1}, &got); err == nil || err.Error() != "how often?" {
				t.Error(err)
			}
		})
	}
}

func TestConnBufio(t *testing.T) {
	connected(t, func(t *testing.T, a, b *exs.Conn) {
		const lines = 5000
		go func() {
			out := bufio.NewWriter(a)
			for i := range lines {
				fmt.Fprintf(out, "line %d\n", i)
			}
			_ = out.Flush()
			_ = a.Close()
		}()
		in := bufio.NewScanner(b)
		n := 0
		for ; in.Scan(); n++ {
			if want := fmt.Sprintf("line %d", n); in.Text() != want {
				t.Fatalf("%q, want %q", in.Text(), want)
			}
		}
		if n != lines || in.Err() != nil {
			t.Errorf("%d lines, %v", n, in.Err())
		}
	})
}
