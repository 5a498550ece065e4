//go:build linux

package bell

import (
	"os"
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
	switch {
	case d > 0:
		p.until = time.Now().Add(d)
		_ = p.file.SetReadDeadline(p.until)
	case !p.until.IsZero():
		p.until = time.Time{}
		_ = p.file.SetReadDeadline(p.until)
	}
	_ = p.raw.Read(p.look)
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
		p.look = b.look
		p.raw = raw
	}
}

// look takes what there is, and reports whether there was something. The network
// poller tells of changes only, and has forgotten those before the wait, so it is
// asked before waiting as well as after.
func (b *Bell) look(uintptr) bool {
	var events [2]unix.EpollEvent
	n := ready(b.all, events[:])
	for i := range n {
		if events[i].Fd == int32(b.event) {
			drainEvent(b.event)
		}
	}
	return n > 0 || b.armed.Load() == 0
}
