//go:build linux

package bell

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"gomx/transport/internal/segment"
)

// Remote is a peer's bell. Ring may be called concurrently, but not with Close.
type Remote struct {
	word   *uint32
	fenced bool
	event  int
	page   *segment.Mem
}

// nobody is the word of a closed Remote: always awake.
var nobody uint32

// Attach maps the bell whose descriptors a peer has sent. It takes both over,
// also when it fails.
func Attach(pageFD, eventFD int) (*Remote, error) {
	page, err := segment.Map(pageFD, pageSize, pageSize)
	if err != nil {
		_ = unix.Close(eventFD)
		return nil, fmt.Errorf("attaching to a bell: %w", err)
	}
	page.CloseFD()
	fenced, err := readPage(page.Bytes())
	if err == nil {
		err = checkEvent(eventFD)
	}
	if err != nil {
		_ = page.Close()
		_ = unix.Close(eventFD)
		return nil, fmt.Errorf("attaching to a bell: %w", err)
	}
	return &Remote{word: word(page), fenced: fenced || !registered(), event: eventFD, page: page}, nil
}

// checkEvent refuses descriptors on which a ring could block, such as a pipe that
// nobody reads.
func checkEvent(fd int) error {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return os.NewSyscallError("fcntl", err)
	}
	if flags&unix.O_NONBLOCK == 0 {
		return errors.New("descriptor to ring with is a blocking one")
	}
	kind, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err == nil && !strings.HasPrefix(kind, "anon_inode:[eventfd") {
		return fmt.Errorf("descriptor to ring with is %s, no eventfd", kind)
	}
	return nil // no /proc: non-blocking must do
}

// Fenced reports whether Ring fences, because this side or the bell's owner
// lacks the barrier that makes it unnecessary.
func (r *Remote) Fenced() bool { return r.fenced }

// Ring wakes the bell's owner if it sleeps. Called after every message: it is
// one load while the owner is awake.
func (r *Remote) Ring() {
	if r.fenced || atomic.LoadUint32(r.word) != 0 {
		r.ring()
	}
}

func (r *Remote) ring() {
	w := atomic.AddUint32(r.word, 0)
	for ; w != 0; w = atomic.LoadUint32(r.word) {
		if w&ringing != 0 || atomic.CompareAndSwapUint32(r.word, w, w|ringing) {
			wake(r.word, w, r.event)
			atomic.CompareAndSwapUint32(r.word, w|ringing, 0)
			return
		}
	}
}

// Close unmaps the page. Ring does nothing afterwards. A second Close does
// nothing.
func (r *Remote) Close() {
	if r.word == &nobody {
		return
	}
	r.word, r.fenced = &nobody, false
	_ = r.page.Close()
	_ = unix.Close(r.event)
}
