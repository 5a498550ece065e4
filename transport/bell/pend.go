//go:build linux

package bell

import (
	"os"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pender is how a goroutine waits in Go's network poller. The poller's thread knows
// all from the first Pend on.
type pender struct {
	file  *os.File
	raw   syscall.RawConn
	look  func(uintptr) bool // made once, so that a wait allocates nothing
	until time.Time          // deadline that file has; 0: none
}

// Pend is Sleep for a bell armed as pollable, but no thread waits: the goroutine does,
// in Go's network poller. It blocks until the bell rings, something watched becomes
// readable or d has passed (d < 0: for ever), and it may return early. Nothing is
// left to Drain.
func (b *Bell) Pend(d time.Duration) {
	if b.armed.Load() == 0 || d == 0 {
		return
	}
	p := &b.pend
	if p.file == nil {
		b.openPender()
	}
	if p.raw == nil { // closed, or a kernel that can't: let a thread wait
		b.Sleep(d)
		return
	}
	p.limit(b.within(d), d < 0 || d > bound)
	_ = p.raw.Read(p.look)
}

// limit makes the wait end after d (d < 0: never). Setting a deadline takes longer than
// asking for the time, so a deadline that is about right is kept.
func (p *pender) limit(d time.Duration, about bool) {
	switch {
	case d >= 0:
		now := time.Now()
		if left := p.until.Sub(now); about && left > d/2 && left <= d {
			return
		}
		p.until = now.Add(d)
	case p.until.IsZero():
		return
	default:
		p.until = time.Time{}
	}
	_ = p.file.SetReadDeadline(p.until)
}

// openPender hands all to Go's network poller.
func (b *Bell) openPender() {
	b.mapped.Lock()
	defer b.mapped.Unlock()
	if b.closed.Load() {
		return
	}
	if unix.SetNonblock(b.all, true) != nil { // or os takes it for a plain file
		return
	}
	p := &b.pend
	p.file = os.NewFile(uintptr(b.all), "doorbell")
	if raw, err := p.file.SyscallConn(); err == nil && p.file.SetReadDeadline(time.Time{}) == nil {
		// The network poller tells of changes only, and forgets at the beginning of a wait
		// those that were before: look comes before the wait as well as after.
		p.look = b.look
		p.raw = raw
	}
}

// look takes a datagram from the post if there is one. It reports whether there was one, whether a watched descriptor is
// ready, or whether the bell is no longer armed. Where nothing is watched it looks at the post only: whoever writes to
// the event has disarmed the bell first.
func (b *Bell) look(uintptr) bool {
	var datagram [secretSize]byte
	switch w := b.armed.Load(); {
	case b.lonely == nil && take(b.post.fd, datagram[:]) >= 0, w == 0, atomic.LoadUint32(b.word) != w:
		return true
	case !b.watching.Load():
		return false
	}
	var events [fds]unix.EpollEvent
	n := ready(b.all, events[:])
	b.take(events[:n])
	return n > 0
}
