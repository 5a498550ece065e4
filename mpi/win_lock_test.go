package mpi

import (
	"context"
	"errors"
	"testing"
	"time"

	"gomx/mpi/internal/accum"
	"gomx/mpi/internal/service"
)

// TestTheDeadGetNoLock: what a rank has asked for and arrives when its death is known is not done, so that the lock goes to who lives.
func TestTheDeadGetNoLock(t *testing.T) {
	for name, diesFirst := range map[string]bool{"known when the window is made": true, "learned later": false} {
		t.Run(name, func(t *testing.T) {
			const size, buried, alive = 3, 1, 2
			j := newJob(size, settings{}, nil)
			defer j.finish()
			j.plane = newPlane(j, service.Local(0))
			j.seats = []*seat{}
			e := &exposed{c: &Comm{world: j.allRanks(), state: &commState{}, seat: &seat{job: j}}, mem: make([]byte, 8), size: 8, kind: accum.KindOf[int64]()}
			if diesFirst {
				j.bury(buried, errors.New("killed"))
			}
			j.plane.expose(windowKey{7, 0}, e)
			if !diesFirst {
				j.bury(buried, errors.New("killed"))
			}
			ask := func(origin int32, kind service.Kind, h head, data ...byte) (byte, error) {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				defer cancel()
				w := &window{id: 7, c: &Comm{world: []int32{origin, 0}}}
				answer := make([]byte, 9)
				_, err := j.plane.Call(ctx, 0, kind, w.write(new(buffer), 1, h), data, answer)
				return answer[0], err
			}
			if answer, err := ask(buried, askLock, head{offset: 1, flag: 1}); answer == answerDone || err != nil {
				t.Errorf("the dead ask for the lock: %d, %v", answer, err)
			}
			if answer, err := ask(alive, askLock, head{offset: 1, flag: 1}); answer != answerDone || err != nil {
				t.Errorf("who lives asks for the lock: %d, %v", answer, err)
			}
			if _, err := ask(buried, askFetch, head{flag: uint8(AccReplace)}, 1, 1, 1, 1, 1, 1, 1, 1); err != nil || e.mem[0] != 0 {
				t.Errorf("the dead have written %d beside who has the lock, %v", e.mem[0], err)
			}
		})
	}
}
