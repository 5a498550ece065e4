//go:build linux

package bell

import (
	"fmt"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"gomx/transport/internal/segment"
)

// Remote is a peer's bell. Ring may be called concurrently, but not with Close.
type Remote struct {
	word   *uint32
	fenced bool
	socket int // leads to the owner's post
	secret [secretSize]byte
	page   *segment.Mem
}

// nobody is the word of a closed Remote: always awake.
var nobody uint32

// Attach maps the bell to which a peer has invited. It takes both descriptors over,
// also when it fails.
func Attach(page, socket int) (*Remote, error) {
	mem, err := segment.Map(page, pageSize, pageSize)
	if err != nil {
		_ = unix.Close(socket)
		return nil, fmt.Errorf("attaching to a bell: %w", err)
	}
	mem.CloseFD()
	fenced, secret, err := readLetter(socket)
	if err != nil {
		_ = mem.Close()
		_ = unix.Close(socket)
		return nil, fmt.Errorf("attaching to a bell: %w", err)
	}
	return &Remote{word: word(mem), fenced: fenced || !registered(), socket: socket, secret: secret, page: mem}, nil
}

// Fenced reports whether Ring fences, because this side or the bell's owner
// lacks the barrier that makes it unnecessary.
func (r *Remote) Fenced() bool { return r.fenced }

// Ring wakes the bell's owner if it sleeps. Called after every message: it is
// one load while the owner is awake, and a fence more for some times after it has slept.
func (r *Remote) Ring() {
	if r.fenced || atomic.LoadUint32(r.word) != 0 {
		r.ring()
	}
}

func (r *Remote) ring() {
	w := atomic.LoadUint32(r.word)
	if w != 0 && w&(ways|ringing) == 0 && atomic.CompareAndSwapUint32(r.word, w, w-generation) {
		return
	}
	for w = atomic.AddUint32(r.word, 0); w&ways != 0; w = atomic.LoadUint32(r.word) {
		if w&ringing != 0 || atomic.CompareAndSwapUint32(r.word, w, w|ringing) {
			if w&wayFutex != 0 {
				wakeAll(r.word)
			}
			if w&wayEvent != 0 {
				send(r.socket, &r.secret)
			}
			atomic.CompareAndSwapUint32(r.word, w|ringing, fencing)
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
	_ = unix.Close(r.socket)
}
