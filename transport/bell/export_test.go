//go:build linux

package bell

import (
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// NewFenced makes a bell as on a machine without membarrier.
func NewFenced() (*Bell, error) {
	b, err := New()
	if err == nil {
		b.always = true
	}
	return b, err
}

// NewLonely makes a bell as where the system refuses what peers need.
func NewLonely() (*Bell, error) {
	return newBell(func(*Bell) error { return errors.New("refused") })
}

// Name is where anybody on the host can send to.
func (b *Bell) Name() unix.Sockaddr { return &unix.SockaddrUnix{Name: b.post.name} }

// Secret is what a datagram must be, so as not to be dropped.
func (r *Remote) Secret() []byte { return r.secret[:] }

// Knock rings whatever the word says.
func (r *Remote) Knock() { send(r.socket, &r.secret) }

// Fenced reports whether Arm has no barrier.
func (b *Bell) Fenced() bool { return b.fenced.Load() }

// Spoil does to the word what a hostile peer could.
func (b *Bell) Spoil(w uint32) { atomic.StoreUint32(b.word, w) }

// DieRinging leaves the word as a ringer does that is killed before its system call.
func (r *Remote) DieRinging() { atomic.OrUint32(r.word, ringing) }

// Word returns what peers see.
func (b *Bell) Word() uint32 { return atomic.LoadUint32(b.word) }

// Armed reports whether peers see that somebody sleeps.
func (b *Bell) Armed() bool { return b.Word()&ways != 0 }

// FencedRings is how many rings fence for an owner that has slept.
const FencedRings = fencedRings

// FailingSleep sleeps on an epoll descriptor that epoll_wait fails for, as it does when a signal interrupts it.
func FailingSleep(d time.Duration) (events int) {
	var room [fds]unix.EpollEvent
	return sleepOnEvents(-1, room[:], d)
}
