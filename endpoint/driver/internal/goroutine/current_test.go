//go:build amd64 || arm64

package goroutine_test

import (
	"runtime"
	"sync"
	"testing"

	"gomx/endpoint/driver/internal/goroutine"
)

// A goroutine keeps its number, whichever thread runs it and however its stack grows, and no other one that lives has it.
func TestCurrent(t *testing.T) {
	const several = 100
	var numbers sync.Map
	var started, all sync.WaitGroup
	started.Add(several)
	for range several {
		all.Go(func() {
			own := goroutine.Current()
			if own == 0 {
				t.Error("no number")
			}
			if _, taken := numbers.LoadOrStore(own, true); taken {
				t.Errorf("two goroutines have the number %#x", own)
			}
			started.Done()
			started.Wait() // until then all live
			for range 100 {
				runtime.Gosched()
				if now := deep(100); now != own {
					t.Errorf("number %#x became %#x", own, now)
				}
			}
		})
	}
	all.Wait()
}

//go:noinline
func deep(n int) uintptr {
	var room [128]byte
	if n == 0 {
		return goroutine.Current()
	}
	room[n%len(room)] = byte(n)
	number := deep(n - 1)
	runtime.KeepAlive(&room)
	return number
}
