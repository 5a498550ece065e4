//go:build linux

package shm

import (
	"context"
	"os"
	"runtime"
	"testing"

	"gomx/transport"
)

// Idle links share one goroutine, which hears of each one's end.
func TestIdleLinksShareAGoroutine(t *testing.T) {
	const links = 100
	p, r := target(t)
	other, _ := target(t)
	meet := func() {
		t.Helper()
		if _, err := other.Dial(context.Background(), p.self); err != nil {
			t.Fatal(err)
		}
		var got []transport.Link
		waitUntil(t, "the peer is accepted", func() bool { got = append(got, r.links()...); return len(got) == 1 })
		got[0].Bind(1)
	}
	meet() // what a port makes for its first link is made
	goroutines, files := runtime.NumGoroutine(), descriptors(t)
	for range links {
		meet()
	}
	if more := runtime.NumGoroutine() - goroutines; more > links/2 {
		t.Errorf("%d links have %d goroutines", links, more)
	}
	if more := descriptors(t) - files; more > 4*links+10 {
		t.Errorf("%d links hold %d descriptors at both ends", links, more)
	}
	_ = other.Close()
	waitUntil(t, "all links have ended", func() bool { p.Poll(nothing{}); return r.ends() == links+1 })
}

func descriptors(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("no /proc here: ", err)
	}
	return len(list)
}
