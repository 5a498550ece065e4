package mx

import (
	"cmp"
	"slices"
	"time"
)

// Tally counts the messages of one class of match information: see WithClasses. Puts and gets belong to none.
type Tally struct {
	Class                           uint64        // the bits of the match information from the shift on
	MessagesSent, BytesSent         uint64        // messages that have left, or whose header has
	MessagesReceived, BytesReceived uint64        // messages that a receive has taken
	Waits                           uint64        // waits for such messages that were not over within a few polls
	Waited                          time.Duration // time in these, summed over goroutines

	// InCalls is the time in calls that send, receive, test and wait, summed over goroutines. Waited is a part of it, which is measured.
	// The rest is estimated from a thousand calls a second at most, so that it says something of many calls, and nothing of a few.
	// It is the time for which a call has the endpoint: waiting for other goroutines that call the same endpoint is left out.
	InCalls time.Duration
}

// Tallies returns what was counted of each class, the lowest class first. A call for whatever fits counts for a class if its mask has
// all bits of the class. Other calls count for class 0 unless they are for certain requests. MX does not have it. Safe from any
// goroutine, also after Close.
func (ep *Endpoint) Tallies() []Tally {
	r := ep.d.Report()
	all := make([]Tally, 0, len(r.Tallies))
	for class, t := range r.Tallies {
		all = append(all, Tally{class, t.Sent, t.SentBytes, t.Received, t.ReceivedBytes, t.Waits, time.Duration(t.Waited), time.Duration(t.Waited + t.Spent)})
	}
	slices.SortFunc(all, func(a, b Tally) int { return cmp.Compare(a.Class, b.Class) })
	return all
}

// MergeTally adds the counts of a class to another class, and removes the first, so that classes that come and go take
// no memory. Safe from any goroutine.
func (ep *Endpoint) MergeTally(class, into uint64) { ep.d.MergeTally(class, into) }
