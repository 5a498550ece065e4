package endpointtest

import (
	"fmt"

	"gomx/match"
)

// Twin matches messages with receives the naive way. Receives prefer the oldest
// message, messages the oldest receive; then who meets whom does not depend on
// how arrivals and posts interleave, only on their two orders. What is taken out
// of both orders together, such as a pair, changes nothing for the rest.
type Twin struct {
	Messages []TwinMessage // in the order sent
	Receives []TwinReceive // in the order posted
}

// TwinMessage is a message that was sent.
type TwinMessage struct {
	ID    int
	Match uint64
}

// TwinReceive is a receive, and the message it got: 0 for none.
type TwinReceive struct {
	Value, Mask uint64
	Got         int
}

// Check reports the first receive that got another message than it should.
func (w *Twin) Check() error {
	taken := make(map[int]bool)
	for i, r := range w.Receives {
		want := 0
		for _, m := range w.Messages {
			if !taken[m.ID] && match.Matches(m.Match, r.Value, r.Mask) {
				want = m.ID
				break
			}
		}
		if want != r.Got {
			return fmt.Errorf("receive %d of %#x mask %#x got message %d, want %d", i, r.Value, r.Mask, r.Got, want)
		}
		taken[want] = true
	}
	return nil
}

// Delivered keeps the messages that were received, and the receives that got
// one: what is left to check when sessions have ended on the way.
func (w *Twin) Delivered() *Twin {
	got := make(map[int]bool)
	d := new(Twin)
	for _, r := range w.Receives {
		if r.Got != 0 {
			got[r.Got] = true
			d.Receives = append(d.Receives, r)
		}
	}
	for _, m := range w.Messages {
		if got[m.ID] {
			d.Messages = append(d.Messages, m)
		}
	}
	return d
}
