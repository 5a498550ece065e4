package mem_test

import (
	"errors"
	"testing"
	"time"

	"gomx/transport"
	"gomx/transport/mem"
)

func TestBellWakesAnArmedSleeper(t *testing.T) {
	b := mem.NewBell()
	for range 1000 {
		b.Arm(false)
		go b.Ring()
		b.Sleep(-1)
		b.Arm(true)
		go b.Ring()
		b.Pend(-1)
		b.Disarm()
	}
}

func TestBellRungBeforeSleep(t *testing.T) {
	b := mem.NewBell()
	b.Arm(false)
	b.Ring()
	b.Ring()
	b.Sleep(-1)
}

func TestBellSleepEnds(t *testing.T) {
	b := mem.NewBell()
	b.Arm(false)
	b.Sleep(0)
	b.Sleep(time.Microsecond)
	go b.Close()
	b.Sleep(-1)
	b.Arm(false)
	b.Sleep(-1)
}

func TestBellHasNoFD(t *testing.T) {
	b := mem.NewBell()
	if fd, err := b.FD(); fd != -1 || !errors.Is(err, transport.ErrUnsupported) {
		t.Errorf("FD: %d, %v", fd, err)
	}
	b.Drain()
}

func TestBellAllocations(t *testing.T) {
	b := mem.NewBell()
	if n := testing.AllocsPerRun(1000, func() {
		b.Arm(false)
		b.Ring()
		b.Sleep(time.Second)
		b.Sleep(time.Nanosecond)
		b.Disarm()
	}); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
