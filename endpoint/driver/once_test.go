//go:build linux

package driver

import (
	"testing"

	"gomx/transport"
)

// slowStarter is a port that delivers a single frame in a poll after one without frames, as transports may, and then the rest.
type slowStarter struct {
	transport.Port
	waiting, polls int
	moved          bool
}

func (p *slowStarter) Poll(transport.Handler) (n int) {
	p.polls++
	if n = p.waiting; !p.moved {
		n = min(n, 1)
	}
	p.waiting -= n
	p.moved = n > 0
	return n
}

// A call that does not wait takes what came behind the first frame, too, and looks once where nothing has come.
func TestCallThatDoesNotWaitTakesAll(t *testing.T) {
	d := bare(t)
	defer func() {
		d.ports = nil
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	p := &slowStarter{}
	d.lock()
	defer d.unlock()
	d.ports = []transport.Port{p}
	for _, c := range []struct{ come, polls int }{{0, 1}, {1, 2}, {9, 2}, {0, 1}} {
		p.waiting, p.polls = c.come, 0
		if d.once(); p.waiting != 0 || p.polls != c.polls {
			t.Errorf("of %d frames %d are left after %d polls, not %d", c.come, p.waiting, p.polls, c.polls)
		}
	}
}
