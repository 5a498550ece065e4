//go:build linux

package bell

import (
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

type pender struct {
	once  sync.Once
	file  *os.File
	raw   syscall.RawConn
	look  func(uintptr) bool
	until bool
}

// Pend is Sleep for a bell armed as pollable, but the goroutine waits in Go's network poller.
func (b *Bell) Pend(d time.Duration) {
	p := &b.pend
	p.once.Do(b.openPender)
	if p.raw == nil {
		b.Sleep(d)
		return
	}
	if b.armed.Load() == 0 || b.closed.Load() || d == 0 {
		return
	}
	if d > 0 {
		_ = p.file.SetReadDeadline(time.Now().Add(d))
		p.until = true
	} else if p.until {
		_ = p.file.SetReadDeadline(time.Time{})
		p.until = false
	}
	_ = p.raw.Read(p.look)
}

func (b *Bell) openPender() {
	fd, err := b.FD()
	if err != nil {
		return
	}
	own, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return
	}
	if unix.SetNonblock(own, true) != nil {
		return
	}
	p := &b.pend
	p.file = os.NewFile(uintptr(own), "doorbell")
	raw, err := p.file.SyscallConn()
	if err != nil || p.file.SetReadDeadline(time.Time{}) != nil {
		return
	}
	p.look = func(uintptr) bool {
		var events [2]unix.EpollEvent
		n, _ := unix.EpollWait(own, events[:], 0)
		b.Drain()
		return n > 0 || b.armed.Load() == 0
	}
	p.raw = raw
}
