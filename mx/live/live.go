// Package live reads what other processes of the same user know of their endpoints, as tools do: who is there, and a
// snapshot of each. The processes need do nothing for it; with MX_LIVE=0 they can't be read. It works on Linux, within one network
// namespace.
package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"gomx/mx"
	"gomx/mx/internal/live"
)

// Bound is how long a process may take to answer.
const Bound = 3 * time.Second

// Errors of reading a process. What Read returns wraps one of them.
var (
	ErrNoProcess   = live.ErrNoProcess
	ErrOtherUser   = live.ErrOtherUser
	ErrNotServing  = live.ErrNotServing
	ErrNoAnswer    = live.ErrNoAnswer
	ErrVanished    = live.ErrVanished
	ErrUnsupported = live.ErrUnsupported
)

// Read returns what a process knows of its endpoints at the moment. Safe from any goroutine.
func Read(pid int) (*mx.LiveReading, error) { return read(pid, "snapshot") }

// Clear is Read, and has what was counted so far noted as LiveReading.Cleared for later readings, of anybody.
func Clear(pid int) (*mx.LiveReading, error) { return read(pid, "clear") }

func read(pid int, question string) (*mx.LiveReading, error) {
	text, err := live.Ask(pid, question, Bound)
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	r := &mx.LiveReading{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("process %d: its answer makes no sense: %w", pid, err)
	}
	return r, nil
}

// atOnce is how many processes are asked at a time.
const atOnce = 16

// All reads all processes of this user, or for root of all users, that have an endpoint open, the lowest process number first. Those
// that can't be read are in failed; one that ends while it is read is in neither. The error says why
// it is not known which there are. Safe from any goroutine.
func All() (readings []*mx.LiveReading, failed []error, err error) { return all("snapshot") }

// ClearAll is All with Clear in place of Read.
func ClearAll() (readings []*mx.LiveReading, failed []error, err error) { return all("clear") }

func all(question string) (readings []*mx.LiveReading, failed []error, err error) {
	pids, err := live.List()
	if err != nil {
		return nil, nil, err
	}
	got, errs := make([]*mx.LiveReading, len(pids)), make([]error, len(pids))
	var wait sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i, pid := range pids {
		slots <- struct{}{}
		wait.Go(func() {
			got[i], errs[i] = read(pid, question)
			<-slots
		})
	}
	wait.Wait()
	for i := range pids {
		switch {
		case errs[i] == nil:
			readings = append(readings, got[i])
		case !gone(errs[i]):
			failed = append(failed, errs[i])
		}
	}
	return readings, failed, nil
}

// gone reports whether there is nothing to say about a process: it has ended, or it is a stranger's who has taken a name that looks like ours.
func gone(err error) bool {
	return errors.Is(err, ErrNoProcess) || errors.Is(err, ErrOtherUser) || errors.Is(err, ErrVanished) || errors.Is(err, ErrNotServing)
}
