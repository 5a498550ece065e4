package transport_test

import (
	"testing"
	"testing/synctest"
	"time"

	"gomx/transport"
)

// A close ends a second after the last of it has left, and all stages of one together after MostClose.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := transport.NewPatience()
		if time.Sleep(transport.CloseBound - time.Millisecond); p.Over(10) {
			t.Error("over before a second")
		}
		if time.Sleep(transport.CloseBound + time.Millisecond); !p.Over(10) {
			t.Error("not over, though nothing leaves for a second")
		}
		for p = transport.NewPatience(); p.Waited() < transport.MostClose-time.Second; time.Sleep(time.Second / 2) {
			if p.Over(-int(p.Waited())) {
				t.Errorf("over after %v, though some leaves", p.Waited())
			}
		}
		again := p.Again()
		if again.Over(10) {
			t.Error("the next stage is over at once")
		}
		if time.Sleep(transport.CloseBound + time.Millisecond); !again.Over(9) {
			t.Errorf("not over after %v", again.Waited())
		}
	})
}
