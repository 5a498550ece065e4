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
	ErrTaken       = live.ErrTaken    // another process has the name that this one would have
	ErrTooLarge    = live.ErrTooLarge // of a process of another user, which only root reads
	ErrVanished    = live.ErrVanished
	ErrUnsupported = live.ErrUnsupported
)

// Read returns what a process knows of its endpoints at the moment. Safe from any goroutine.
func Read(pid int) (*mx.LiveReading, error) { return read(pid, "snapshot") }

// Clear is Read, and has what was counted so far noted as LiveReading.Cleared for later readings, of anybody.
func Clear(pid int) (*mx.LiveReading, error) { return read(pid, "clear") }

func read(pid int, question string) (*mx.LiveReading, error) {
	answer, err := live.Ask(pid, question, Bound, &live.Allowances{})
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	r, err := decode(answer, pid)
	if err != nil {
		return nil, fmt.Errorf("process %d: %w", pid, err)
	}
	return r, nil
}

// decoding lets one answer of another user at a time be made values.
var decoding sync.Mutex

// decode makes values of an answer. A process must say the number that the name of its socket has. Another user's process does not say which process
// it is: the kernel does.
func decode(a live.Answer, pid int) (*mx.LiveReading, error) {
	if a.Peer.Foreign() {
		decoding.Lock()
		defer decoding.Unlock()
	}
	r := &mx.LiveReading{}
	if err := json.Unmarshal(a.Text, r); err != nil {
		return nil, fmt.Errorf("its answer makes no sense: %w", err)
	}
	r.User = a.Peer.UID
	switch {
	case a.Peer.Foreign():
		r.PID = a.Peer.PID
	case r.PID != pid:
		return nil, fmt.Errorf("its answer makes no sense: it is that of process %d", r.PID)
	}
	return r, nil
}

// All reads all processes of this user, or for root of all users, that have an endpoint open, the lowest process number first. Those
// that can't be read are in failed; one that ends while it is read is in neither, and neither is one whose name another process has taken. What
// is read of another user's processes has a bound for all of them together. The error says why
// it is not known which there are. Safe from any goroutine.
func All() (readings []*mx.LiveReading, failed []error, err error) { return all("snapshot") }

// ClearAll is All with Clear in place of Read.
func ClearAll() (readings []*mx.LiveReading, failed []error, err error) { return all("clear") }

func all(question string) (readings []*mx.LiveReading, failed []error, err error) {
	sockets, err := live.Sockets(nil)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range askAll(sockets, question, Bound) {
		switch {
		case f.err == nil:
			readings = append(readings, f.reading)
		case !gone(f.err):
			failed = append(failed, fmt.Errorf("process %d: %w", f.pid, f.err))
		}
	}
	return readings, failed, nil
}

// atOnce is how many processes of a user are asked at a time. Those of one user don't hold up those of another.
const atOnce = 256

// finding is what became of asking a socket.
type finding struct {
	reading *mx.LiveReading
	pid     int // who has answered or failed to, as far as it is known
	err     error
}

// askAll asks sockets, all of them within the bound, however many there are and whoever holds them.
func askAll(sockets []live.Socket, question string, bound time.Duration) []finding {
	found := make([]finding, len(sockets))
	allowances := &live.Allowances{}
	end := time.Now().Add(bound)
	slots := map[int]chan struct{}{}
	for _, s := range sockets {
		if slots[s.User()] == nil {
			slots[s.User()] = make(chan struct{}, atOnce)
		}
	}
	var wait sync.WaitGroup
	for i, s := range sockets {
		wait.Go(func() {
			slot := slots[s.User()]
			slot <- struct{}{}
			defer func() { <-slot }()
			answer, err := s.Ask(question, end, allowances)
			f := finding{pid: s.PID, err: err}
			if answer.Peer.PID != 0 && answer.Peer.Foreign() {
				f.pid = answer.Peer.PID
			}
			if err == nil {
				f.reading, f.err = decode(answer, s.PID)
			}
			found[i] = f
		})
	}
	wait.Wait()
	return found
}

// gone reports whether there is nothing to say about a process: it has ended, or it is a stranger's who has taken a name that looks like ours.
func gone(err error) bool {
	return errors.Is(err, ErrNoProcess) || errors.Is(err, ErrOtherUser) || errors.Is(err, ErrVanished) || errors.Is(err, ErrNotServing) || errors.Is(err, ErrTaken)
}
