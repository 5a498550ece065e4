package transporttest

import (
	"testing"

	"gomx/transport"
)

// Factory tells the suite how to get at a medium.
type Factory struct {
	// Name heads the subtests.
	Name string

	// New returns a transport for one subtest, on which all its endpoints are
	// opened. What the machine lacks for it, New names in a t.Skip.
	New func(t testing.TB) transport.Transport

	// NewBell returns a doorbell for one endpoint.
	NewBell func(t testing.TB) transport.Doorbell

	// Address returns the address of endpoint i, for i from 0 to 9. Nil stands
	// for board 02:00:7f:00:00:01 and endpoint i.
	Address func(i int) transport.Address
}

// needs says which capabilities a subtest asks of the medium.
type needs struct{ reliable, pull bool }

var subtests = []struct {
	name string
	needs
	run func(t *testing.T, w *world)
}{
	{"ClaimAndBusy", needs{}, testClaim},
	{"DialNobody", needs{}, testDialNobody},
	{"DialAfterClose", needs{}, testDialAfterClose},
	{"AcceptAndPeer", needs{}, testAccept},
	{"SimultaneousDial", needs{}, testSimultaneousDial},
	{"BindGating", needs{reliable: true}, testBindGating},
	{"Frames", needs{}, testFrames},
	{"SendCopies", needs{}, testSendCopies},
	{"PayloadStaysInHandler", needs{reliable: true}, testPayloadStays},
	{"BackPressure", needs{reliable: true}, testBackPressure},
	{"StoppedPoll", needs{reliable: true}, testStops},
	{"BothDirections", needs{reliable: true}, testBothDirections},
	{"Pull", needs{pull: true}, testPull},
	{"BothPull", needs{pull: true}, testBothPull},
	{"CloseThenDown", needs{reliable: true}, testCloseThenDown},
	{"LinkCloseThenDown", needs{reliable: true}, testLinkCloseThenDown},
	{"CloseBeforeBind", needs{reliable: true}, testCloseBeforeBind},
	{"EndBeforeBind", needs{reliable: true}, testEndBeforeBind},
	{"CloseTwice", needs{}, testCloseTwice},
	{"SendAfterClose", needs{}, testSendAfterClose},
	{"WakeUp", needs{reliable: true}, testWakeUp},
	{"SleepyReader", needs{reliable: true}, testSleepyReader},
	{"SleepyWriter", needs{reliable: true}, testSleepyWriter},
	{"NoGoroutineLeft", needs{}, testNoGoroutineLeft},
	{"NoAllocations", needs{}, testNoAllocations},
}

// Run runs the suite. Subtests that a medium's capabilities rule out say so when
// they skip.
func Run(t *testing.T, f Factory) {
	t.Run(f.Name, func(t *testing.T) {
		for _, s := range subtests {
			t.Run(s.name, func(t *testing.T) {
				w := newWorld(t, f)
				if s.needs != (needs{}) {
					a, _ := w.pair()
					caps := a.link.Caps()
					if s.reliable && !(caps.Reliable && caps.Ordered) {
						t.Skip("the medium is not ordered and reliable")
					}
					if s.pull && !caps.Pull {
						t.Skip("the medium has no Pull")
					}
				}
				s.run(t, w)
			})
		}
	})
}
