//go:build linux

package affinity_test

import (
	"runtime"
	"slices"
	"testing"

	"gomx/bench/pingpong/internal/affinity"
)

func TestPinThread(t *testing.T) {
	cores, err := affinity.Allowed()
	if err != nil || len(cores) == 0 {
		t.Fatalf("cores %v, %v", cores, err)
	}
	last := cores[len(cores)-1]
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the bound thread must not serve others
		if err := affinity.PinThread(last); err != nil {
			t.Error(err)
		}
		if got, err := affinity.Allowed(); err != nil || !slices.Equal(got, []int{last}) {
			t.Errorf("bound to core %d, may run on %v, %v", last, got, err)
		}
	}()
	<-done
}

func TestNoSuchCore(t *testing.T) {
	for _, core := range []int{-1, 1023, 1 << 20} {
		if err := affinity.PinProcess(core); err == nil {
			t.Errorf("core %d: no error", core)
		}
	}
}
