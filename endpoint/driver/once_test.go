//go:build linux

package driver

import (
	"testing"

	"gomx/endpoint"
	"gomx/transport"
	"gomx/transport/bell"
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
	b, err := bell.New()
	if err != nil {
		t.Fatal(err)
	}
	d, err := Open(Config{Bell: b, Engine: endpoint.Config{NIC: 1, Session: 1}})
	if err != nil {
		t.Fatal(err)
	}
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
