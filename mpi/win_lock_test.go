package mpi

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"gomx/mpi/internal/service"
	"gomx/mx"
)

// TestFailedRanksGetNoLock: what a rank has asked for and arrives when its failure is known is not done, so that the lock goes to who lives.
func TestFailedRanksGetNoLock(t *testing.T) {
	for name, early := range map[string]bool{"known when the window is made": true, "learned later": false} {
		t.Run(name, func(t *testing.T) {
			err := Run(1, func(c *Comm) error {
				lockAmongTheDead(t, c.seat, early)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// lockAmongTheDead has two others ask for the memory of rank 0, of which one has died.
func lockAmongTheDead(t *testing.T, s *seat, early bool) {
	const dead, alive = 1, 2
	j := s.job
	s.peers = make([]atomic.Pointer[peer], alive+1) // none is reached
	e := &exposed{c: &Comm{seat: s, world: []int32{0, dead, alive}}, mem: make([]byte, 8), size: 8, kind: mx.AtomicInt64}
	key := windowKey{7, 0}
	if early {
		j.noteFailure(dead, errors.New("killed"))
	}
	j.control.expose(key, e)
	defer j.control.withdraw(key)
	if !early {
		j.noteFailure(dead, errors.New("killed"))
	}
	ask := func(origin int32, kind service.Kind, h head, data ...byte) (byte, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		w := &window{id: key.id, c: &Comm{world: []int32{origin, 0}}}
		answer := make([]byte, 9)
		_, err := j.control.Call(ctx, 0, kind, w.write(new(buffer), 1, h), data, answer)
		return answer[0], err
	}
	if answer, err := ask(dead, askLock, head{offset: 1, flag: 1}); answer != answerDead || err != nil {
		t.Errorf("the dead ask for the lock: %d, %v", answer, err)
	}
	if answer, err := ask(alive, askLock, head{offset: 1, flag: 1}); answer != answerDone || err != nil {
		t.Errorf("who lives asks for the lock: %d, %v", answer, err)
	}
	if _, err := ask(dead, askFetch, head{flag: uint8(AccReplace)}, 1, 1, 1, 1, 1, 1, 1, 1); err != nil || e.mem[0] != 0 {
		t.Errorf("the dead have written %d beside who has the lock, %v", e.mem[0], err)
	}
}
