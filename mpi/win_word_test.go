package mpi

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"gomx/mpi/internal/queue"
	"gomx/mx"
)

// says returns what the word of the own lock says, and whether the queue decides.
func (e *exposed) says() (queue.Word, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b [8]byte
	if err := e.word.win.FetchAtomic(mx.AtomicRead, mx.AtomicUint64, b[:], 0); err != nil {
		panic(err)
	}
	return queue.Word(binary.NativeEndian.Uint64(b[:])), e.word.decides
}

// vacant returns an error unless nobody has the own lock, and the word decides.
func (e *exposed) vacant() error {
	if word, decides := e.says(); word != queue.Free || decides || !e.lock.Vacant() {
		return fmt.Errorf("nobody has the lock, and its word says %x; the queue decides: %v", word, decides)
	}
	return nil
}

// TestWordOfALock: a lock that nobody has is taken and given back without the target's service, which decides while others wait.
func TestWordOfALock(t *testing.T) {
	for name, exclusive := range map[string]bool{"exclusive": true, "shared": false} {
		t.Run(name, func(t *testing.T) {
			if err := Run(2, func(c *Comm) error { return takeByWord(c, exclusive) }); err != nil {
				t.Error(err)
			}
		})
	}
}

func takeByWord(c *Comm, exclusive bool) error {
	w, err := WinAllocate[int64](c, 1)
	if err != nil {
		return err
	}
	const target = 1
	if c.Rank() == target {
		if err := c.Barrier(); err != nil { // the other has it
			return err
		}
		if word, decides := w.exposed.says(); word == queue.Free || word == queue.Queued || decides {
			return fmt.Errorf("the lock is taken, and its word says %x; the queue decides: %v", word, decides)
		}
		for timeout := time.Millisecond; ; timeout *= 4 { // on a busy machine a short one passes before the lock is asked for
			ctx, cancel := context.WithTimeout(context.Background(), timeout)
			err := w.WithContext(ctx).Lock(target, true)
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				return fmt.Errorf("a lock that is held: %v", err)
			}
			word, decides := w.exposed.says()
			if word == queue.Queued && decides {
				break
			}
			if timeout > 10*time.Second {
				return fmt.Errorf("somebody has come to wait, and the word says %x; the queue decides: %v", word, decides)
			}
		}
		return errors.Join(c.Barrier(), c.Barrier(), w.exposed.vacant(), w.Lock(target, true), w.Unlock(target), w.exposed.vacant(), w.Free())
	}
	err = errors.Join(w.Lock(target, exclusive), c.Barrier(), c.Barrier(), w.Unlock(target), c.Barrier())
	return errors.Join(err, w.Free())
}

// TestWordOfALockIsGivenUp: waits for a word end with their context while the target does not move, and when it does, nobody has the lock.
func TestWordOfALockIsGivenUp(t *testing.T) {
	still, moves, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
	err := Run(2, func(c *Comm) error {
		w, err := WinAllocate[int64](c, 1)
		if err != nil {
			return err
		}
		if c.Rank() == 1 {
			ep := c.seat.ep
			err := ep.DisableProgression()
			close(still)
			<-moves
			err = errors.Join(err, ep.ReenableProgression())
			<-over
			return errors.Join(err, w.exposed.vacant(), w.Lock(1, true), w.Unlock(1), c.Barrier(), w.Free())
		}
		<-still
		for range 3 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			if err := w.WithContext(ctx).Lock(1, true); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a lock of who does not move: %v", err)
			}
			cancel()
		}
		close(moves)
		err = errors.Join(w.Lock(1, true), w.Unlock(1))
		close(over)
		return errors.Join(err, c.Barrier(), w.Free())
	})
	if err != nil {
		t.Error(err)
	}
}
