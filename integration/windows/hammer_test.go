//go:build linux

package windows_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
	"gomx/mx"
)

// Two processes put into and get from each other's window at random, with many
// operations under way at once, and compare what they get with what they have put.
func TestHammer(t *testing.T) {
	testlength.Long(t)
	over(t, func(t *testing.T, medium string) {
		ep := open(t, medium)
		n := rounds(20_000)
		child, to := start(t, ep, medium, "hammer", n)
		if err := hammer(ep, to, 1, n); err != nil {
			t.Error(err)
		}
		child.Hear("done")
		child.Say("end")
		if err := child.Wait(); err != nil {
			t.Error(err)
		}
	})
}

func hammerRole(c *proc.Child) {
	ep, to := meet(c)
	if err := hammer(ep, to, 2, int(c.Number(2))); err != nil {
		c.Fail(err)
	}
	c.Say("done")
	c.Hear()
	if err := ep.Close(); err != nil {
		c.Fail(err)
	}
}

const (
	windowSize = 4 << 20
	atOnce     = 16
)

// striker hammers the window of one peer. The window is cut in lanes, one for each
// operation under way: within a lane they follow each other, so that what is in it is
// known.
type striker struct {
	ep     *mx.Endpoint
	to     mx.EndpointAddr
	handle mx.WindowHandle
	rng    *rand.Rand
	lanes  [atOnce]lane
}

type lane struct {
	base    int
	image   []byte // what must be in the window
	buffer  []byte
	request mx.Request
	at, n   int
	get     bool
	busy    bool
}

const laneSize = windowSize / atOnce

func hammer(ep *mx.Endpoint, to mx.EndpointAddr, seed uint64, n int) error {
	win, err := ep.OpenWindow(make([]byte, windowSize), mx.WindowRead|mx.WindowWrite)
	if err != nil {
		return err
	}
	if err := tell(ep, to, win.Handle()); err != nil {
		return err
	}
	s := &striker{ep: ep, to: to, rng: rand.New(rand.NewPCG(seed, 1))}
	if s.handle, err = hear(ep); err != nil {
		return err
	}
	for i := range s.lanes {
		s.lanes[i] = lane{base: i * laneSize, image: make([]byte, laneSize), buffer: make([]byte, laneSize)}
	}
	for range n {
		l := &s.lanes[s.rng.IntN(atOnce)]
		if err := s.finish(l); err != nil {
			return err
		}
		if err := s.begin(l); err != nil {
			return err
		}
	}
	for i := range s.lanes {
		if err := s.finish(&s.lanes[i]); err != nil {
			return err
		}
	}
	return nil
}

// begin starts a put or a get of a random range of the lane.
func (s *striker) begin(l *lane) (err error) {
	most := []int{16, 1200, 9000, 100_000, laneSize}[s.rng.IntN(5)]
	l.n = s.rng.IntN(most + 1)
	l.at = s.rng.IntN(laneSize - l.n + 1)
	l.get, l.busy = s.rng.IntN(2) == 0, true
	at, b := uint32(l.base+l.at), l.buffer[:l.n]
	segments := [][]byte{b[:l.n/3], b[l.n/3:]}
	if l.get {
		l.request, err = s.ep.Igetv(segments, s.to, s.handle, at, 0, nil)
		return err
	}
	x := s.rng.Uint64()
	for i := range b {
		b[i] = byte(x >> (i % 8 * 8))
		if i%8 == 7 {
			x = x*6364136223846793005 + 1442695040888963407
		}
	}
	copy(l.image[l.at:], b)
	l.request, err = s.ep.Iputv(segments, s.to, s.handle, at, 0, nil)
	return err
}

func (s *striker) finish(l *lane) error {
	if !l.busy {
		return nil
	}
	l.busy = false
	if err := s.ep.Finish(l.request, patience); err != nil {
		return fmt.Errorf("get %v of %d bytes at %d: %w", l.get, l.n, l.at, err)
	}
	if l.get && !bytes.Equal(l.buffer[:l.n], l.image[l.at:l.at+l.n]) {
		return fmt.Errorf("a get of %d bytes at %d brings others than were put", l.n, l.at)
	}
	return nil
}
