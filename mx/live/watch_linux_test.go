package live_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mx"
	"gomx/mx/live"
)

// TestWatcher reads an overview again and again, and hears when the process stops, goes on, and ends.
func TestWatcher(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	cmd := process(t)
	w := &live.Watcher{PIDs: []int{cmd.Process.Pid}, Bound: 100 * time.Millisecond}
	one := func() (*mx.LiveReading, []live.Silent, error) {
		t.Helper()
		got, silent, err := w.Read(true)
		if len(got) != 1 {
			return nil, silent, err
		}
		return got[0], silent, err
	}
	r, _, err := one()
	for end := time.Now().Add(30 * time.Second); r == nil && time.Now().Before(end); { // a busy machine
		time.Sleep(time.Millisecond)
		r, _, err = one()
	}
	if err != nil || r == nil || len(r.Endpoints) != 1 || len(r.Endpoints[0].Counters) != 4 || r.Endpoints[0].Counters[0].Help != "" {
		t.Fatalf("%+v, %v", r, err)
	}
	whole, _, err := (&live.Watcher{PIDs: w.PIDs, Whole: true}).Read(false)
	if err != nil || len(whole) != 1 || len(whole[0].Endpoints[0].Counters) <= 4 || whole[0].Endpoints[0].Counters[0].Help == "" {
		t.Fatalf("all there is: %+v, %v", whole, err)
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for !stopped(t, cmd.Process.Pid) {
		time.Sleep(time.Millisecond)
	}
	for range 2 { // the second time without asking
		r, silent, err := one()
		if r != nil || err != nil || len(silent) != 1 || !errors.Is(silent[0].Err, live.ErrNoAnswer) || silent[0].Last == nil {
			t.Fatalf("stopped: %+v %+v %v", r, silent, err)
		}
	}
	pair := &live.Watcher{PIDs: []int{cmd.Process.Pid, process(t).Process.Pid}, Bound: 100 * time.Millisecond}
	for end := time.Now().Add(30 * time.Second); len(pairRead(t, pair)) != 1 && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = cmd.Process.Wait()
	gone := func() bool {
		_, silent, err := pair.Read(false)
		return err == nil && len(silent) == 0
	}
	for end := time.Now().Add(30 * time.Second); !gone() || len(pairRead(t, pair)) != 1; {
		if time.Now().After(end) {
			t.Fatal("one of two has ended, and the other is not read alone")
		}
		time.Sleep(time.Millisecond)
	}
	fresh := &live.Watcher{PIDs: w.PIDs}
	if _, _, err := fresh.Read(false); !errors.Is(err, live.ErrNoProcess) {
		t.Errorf("of a process that has ended: %v", err)
	}
}

func pairRead(t *testing.T, w *live.Watcher) []*mx.LiveReading {
	t.Helper()
	got, _, err := w.Read(false)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestAddWaits: what a package adds is read, and not when it is removed.
func TestAddWaits(t *testing.T) {
	if err := mx.Init(); err != nil {
		t.Fatal(err)
	}
	ep, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, 7)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		ep.Close()
		if err := mx.Finalize(); err != nil {
			t.Error(err)
		}
	}()
	remove := mx.AddWaits(func() any { return map[string]int{"waits": 3} })
	removeNil := mx.AddWaits(func() any { return nil })
	defer removeNil()
	read := func(waits bool) string {
		t.Helper()
		w := &live.Watcher{PIDs: []int{os.Getpid()}}
		got, _, err := w.Read(waits)
		if err != nil || len(got) != 1 {
			t.Fatal(got, err)
		}
		text, err := json.Marshal(got[0].Waits)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if text := read(true); text != `[{"waits":3}]` {
		t.Error(text)
	}
	if text := read(false); !strings.HasPrefix(text, "null") {
		t.Errorf("an overview has %s", text)
	}
	remove()
	remove()
	if text := read(true); text != "null" {
		t.Errorf("after it was removed: %s", text)
	}
}
