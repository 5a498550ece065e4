//go:build linux

package epoll_test

import (
	"testing"
	"time"

	"gomx/transport/internal/epoll"
)

// A goroutine that pends is told of what was there before and of what comes while it waits; Close ends its wait.
func TestPend(t *testing.T) {
	p, err := epoll.NewPending()
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan int32)
	go func() {
		defer close(told)
		for n := p.Pend(); n > 0; n = p.Pend() {
			for i := range n {
				told <- p.Event(i).Key
			}
		}
	}()
	await := func(want int32, open bool) {
		t.Helper()
		select {
		case key, ok := <-told:
			if key != want || ok != open {
				t.Fatalf("told of %d, %v; want %d, %v", key, ok, want, open)
			}
		case <-time.After(10 * time.Second):
			t.Fatal("nothing was told")
		}
	}
	for key := range int32(3) {
		r, w := pipe(t)
		if key != 1 {
			write(t, w)
		}
		if err := p.Add(int(r.Fd()), key); err != nil {
			t.Fatal(err)
		}
		if key == 1 {
			write(t, w)
		}
		await(key, true)
	}
	p.Close()
	await(0, false)
	if n := p.Pend(); n != 0 {
		t.Errorf("%d events of a closed set", n)
	}
}
