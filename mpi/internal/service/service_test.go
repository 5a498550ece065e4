package service_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"gomx/mpi/internal/service"
	"gomx/mx"
)

const bound = 20 * time.Second

// The kinds of the tests.
const (
	echo service.Kind = iota + 1
	note
	later
)

// server is a service with handlers that answer what it was asked, gather notes, and
// answer later.
type server struct {
	*service.Service
	notes chan string
	kept  chan *service.Question
}

func newServer(s *service.Service) *server {
	d := &server{s, make(chan string, 10000), make(chan *service.Question, 16)}
	s.Handle(echo, 0, func(q *service.Question) { q.Answer(fmt.Appendf(nil, "%d:%s", q.From, q.Head), q.Data) })
	s.Handle(note, 0, func(q *service.Question) { d.notes <- string(q.Head) + string(q.Data) })
	s.Handle(later, 0, func(q *service.Question) { d.kept <- q.Later() })
	return d
}

// over runs a test with three processes' services over each transport that works here.
func over(t *testing.T, f func(t *testing.T, servers []*server)) {
	for _, medium := range []string{"mem", "shm", "tcp"} {
		t.Run(medium, func(t *testing.T) {
			if err := mx.Init(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := mx.Finalize(); err != nil {
					t.Error(err)
				}
			})
			for _, info := range mx.Transports() {
				if info.Name == medium && !info.Available {
					t.Skipf("transport %s: %s", medium, info.Reason)
				}
			}
			f(t, open(t, medium, 3))
		})
	}
}

func open(t *testing.T, medium string, n int) (servers []*server) {
	var addresses []service.Address
	for i := range n {
		s, err := service.Open(i, mx.WithTransports(medium))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		servers = append(servers, newServer(s))
		addresses = append(addresses, s.Address())
	}
	for _, d := range servers {
		if err := d.Begin(addresses); err != nil {
			t.Fatal(err)
		}
	}
	return servers
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	t.Cleanup(cancel)
	return ctx
}

func TestCall(t *testing.T) {
	over(t, func(t *testing.T, servers []*server) {
		ctx := within(t)
		for from, d := range servers {
			for to := range servers {
				for _, size := range []int{0, 1, 100, 5000, 60000} {
					data := bytes.Repeat([]byte{7}, size)
					answer := make([]byte, 70000)
					n, err := d.Call(ctx, to, echo, []byte("head"), data, answer)
					want := fmt.Sprintf("%d:head%s", from, data)
					if err != nil || string(answer[:n]) != want {
						t.Fatalf("from %d to %d, %d bytes: %d bytes %.20q, %v", from, to, size, n, answer[:n], err)
					}
				}
			}
		}
	})
}

func TestNotesKeepTheirOrder(t *testing.T) {
	over(t, func(t *testing.T, servers []*server) {
		ctx := within(t)
		const many = 500
		for i := range many {
			data := strings.Repeat("x", i%7*1000)
			if err := servers[0].Tell(ctx, 1, note, fmt.Appendf(nil, "%d ", i), []byte(data)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := servers[0].Call(ctx, 1, echo, nil, nil, make([]byte, 9)); err != nil {
			t.Fatal(err)
		}
		for i := range many {
			select {
			case s := <-servers[1].notes:
				if want := fmt.Sprintf("%d %s", i, strings.Repeat("x", i%7*1000)); s != want {
					t.Fatalf("note %d is %.20q", i, s)
				}
			default:
				t.Fatalf("a question overtook note %d", i)
			}
		}
	})
}

func TestManyAsk(t *testing.T) {
	over(t, func(t *testing.T, servers []*server) {
		ctx := within(t)
		var all sync.WaitGroup
		for i := range 12 {
			all.Go(func() {
				answer := make([]byte, 100)
				for k := range 50 {
					text := fmt.Appendf(nil, "%d %d", i, k)
					n, err := servers[i%3].Call(ctx, k%3, echo, text, nil, answer)
					if want := fmt.Sprintf("%d:%s", i%3, text); err != nil || string(answer[:n]) != want {
						t.Errorf("%q: %q, %v", want, answer[:n], err)
						return
					}
				}
			})
		}
		all.Wait()
	})
}

func TestAnswerLater(t *testing.T) {
	over(t, func(t *testing.T, servers []*server) {
		ctx := within(t)
		got := make(chan string, 2)
		for from := range 2 {
			go func() {
				answer := make([]byte, 100000)
				n, err := servers[from].Call(ctx, 0, later, nil, nil, answer)
				got <- fmt.Sprint(n, err)
			}()
			q := <-servers[0].kept
			if n, err := servers[2].Call(ctx, 0, echo, nil, nil, make([]byte, 9)); n != 2 || err != nil {
				t.Fatal("it does not answer others meanwhile:", n, err)
			}
			q.Answer([]byte("yes"), make([]byte, 90000))
			if s := <-got; s != "90003 <nil>" {
				t.Fatal(s)
			}
		}
	})
}

func TestCallEndsWithItsContext(t *testing.T) {
	over(t, func(t *testing.T, servers []*server) {
		for from := range 2 {
			ctx, cancel := context.WithCancel(t.Context())
			failed := make(chan error, 1)
			go func() {
				_, err := servers[from].Call(ctx, 0, later, nil, nil, make([]byte, 9))
				failed <- err
			}()
			q := <-servers[0].kept
			cancel()
			if err := <-failed; !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			q.Answer([]byte("late"), nil)
			if n, err := servers[from].Call(within(t), 0, echo, nil, nil, make([]byte, 9)); n != 2 || err != nil {
				t.Fatal(n, err)
			}
		}
	})
}

func TestPeerFails(t *testing.T) {
	over(t, func(t *testing.T, servers []*server) {
		ctx := within(t)
		type end struct {
			gone bool
			why  error
		}
		ends := make(chan end, 1)
		if _, err := servers[0].Call(ctx, 1, echo, nil, nil, make([]byte, 9)); err != nil {
			t.Fatal(err)
		}
		go func() {
			gone, why := servers[0].Watch(ctx, 1)
			ends <- end{gone, why}
		}()
		failed := make(chan error, 1)
		go func() {
			_, err := servers[0].Call(ctx, 1, later, nil, nil, make([]byte, 9))
			failed <- err
		}()
		<-servers[1].kept
		if err := servers[1].Close(); err != nil {
			t.Fatal(err)
		}
		if e := <-ends; !e.gone || e.why == nil {
			t.Errorf("gone %v, %v", e.gone, e.why)
		}
		if err := <-failed; err == nil || ctx.Err() != nil {
			t.Error(err)
		}
	})
}

func TestRefusals(t *testing.T) {
	over(t, func(t *testing.T, servers []*server) {
		ctx := within(t)
		if _, err := servers[0].Call(ctx, 1, 200, nil, nil, make([]byte, 9)); !errors.Is(err, service.ErrRefused) {
			t.Error("a kind that nobody handles:", err)
		}
		if _, err := servers[0].Call(ctx, 1, echo, make([]byte, 100), nil, make([]byte, 9)); !errors.Is(err, service.ErrRefused) {
			t.Error("an answer that has no room:", err)
		}
		if _, err := servers[0].Call(ctx, 3, echo, nil, nil, make([]byte, 9)); err == nil {
			t.Error("a process that does not exist has answered")
		}
		if err := servers[0].Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := servers[0].Call(ctx, 1, echo, nil, nil, make([]byte, 9)); !errors.Is(err, service.ErrClosed) {
			t.Error("after Close:", err)
		}
	})
}

func TestLocal(t *testing.T) {
	d := newServer(service.Local(0))
	if err := d.Begin(nil); err != nil {
		t.Fatal(err)
	}
	answer := make([]byte, 20)
	n, err := d.Call(t.Context(), 0, echo, []byte("a"), []byte("b"), answer)
	if err != nil || string(answer[:n]) != "0:ab" {
		t.Fatalf("%q, %v", answer[:n], err)
	}
	if err := d.Tell(t.Context(), 0, note, []byte("c"), nil); err != nil || <-d.notes != "c" {
		t.Fatal(err)
	}
	if _, err := d.Call(t.Context(), 1, echo, nil, nil, answer); err == nil {
		t.Error("a process that does not exist has answered")
	}
	failed := make(chan error, 1)
	go func() {
		_, err := d.Call(context.Background(), 0, later, nil, nil, answer)
		failed <- err
	}()
	<-d.kept
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; !errors.Is(err, service.ErrClosed) {
		t.Error("a call that waits when the service is closed:", err)
	}
}
