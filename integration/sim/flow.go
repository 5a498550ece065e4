package sim

import (
	"fmt"

	"gomx/endpoint"
)

// flow is all that one life of an endpoint has sent to another endpoint, by
// number.
type flow struct{ sent []record }

// record is what became of one message.
type record struct {
	session uint32 // of the address it was sent to
	post    uint32 // number of the receive that it matched, from 1 on
	scope   scope  // of that receive
	code    endpoint.Code
	state   recordState
}

type recordState uint16

const (
	recordSync    recordState = 1 << iota // sent synchronously
	recordEnded                           // the send has completed, with code
	recordMatched                         // a receive has it
	recordFailed                          // but did not get the bytes
	recordLost                            // the sender's life ended before its send
	recordShown                           // the handler was shown it
	recordDropped                         // and wanted none of it
	recordTaken                           // the send was cancelled before it began
	recordArrived                         // a frame of it has come to the receiver
)

// scope says which messages of a flow a receive fits.
type scope uint8

const (
	scopeOne   scope = iota // just one
	scopeClass              // those of a class
	scopeAll
)

// matched notes that a receive has got a message.
func (f *flow) matched(m message, post uint32, s scope, failed bool) error {
	if int(m.number) >= len(f.sent) {
		return fmt.Errorf("message %v was never sent", m)
	}
	r := &f.sent[m.number]
	if r.state&recordMatched != 0 {
		return fmt.Errorf("message %v is delivered twice", m)
	}
	r.state |= recordMatched
	r.post, r.scope = post, s
	if failed {
		r.state |= recordFailed
	}
	return nil
}

// arrived notes that a frame of a message has come.
func (f *flow) arrived(m message) {
	if int(m.number) < len(f.sent) {
		f.sent[m.number].state |= recordArrived
	}
}

// check goes over a flow when its history has ended. Strict: nothing has happened
// that may end a session between the two.
func (f *flow) check(w *World, from, life, to int, strict bool) error {
	order := orderCheck{}
	for i := range f.sent {
		r := &f.sent[i]
		m, _ := w.plan.message(from, life, to, uint32(i))
		if err := r.check(strict); err != nil {
			return fmt.Errorf("message %v: %w", m, err)
		}
		if err := order.next(m, r); err != nil {
			return err
		}
	}
	return nil
}

func (r *record) check(strict bool) error {
	ok := r.code == endpoint.Success || r.code == endpoint.Truncated
	switch {
	case r.state&recordTaken != 0 && r.state&(recordMatched|recordArrived) != 0:
		return fmt.Errorf("its send was taken back, and it has arrived")
	case r.state&recordTaken != 0:
		return nil
	case r.state&(recordEnded|recordLost) == 0:
		return fmt.Errorf("its send has not completed")
	case strict && r.state&recordMatched == 0:
		return fmt.Errorf("it is lost, and its send said %v", r.code)
	case strict && (!ok || r.state&recordFailed != 0):
		return fmt.Errorf("it fails without reason: %v", r.code)
	case r.code == endpoint.Truncated && r.state&(recordSync|recordDropped) == 0:
		return fmt.Errorf("a standard send says that it was truncated")
	case ok && r.state&recordEnded != 0 && r.state&recordSync != 0 && r.state&recordMatched == 0:
		return fmt.Errorf("its synchronous send says %v, but nobody has received it", r.code)
	}
	return nil
}

// orderCheck holds one flow to the rule of order: if a receive gets a message, all
// earlier ones of the same session that it would have fitted have matched receives
// that were posted before.
type orderCheck struct {
	session uint32
	all     uint32 // the latest receive that got one of the messages so far
	class   [classes]uint32
	lastAll message
	last    [classes]message
}

const never = 1<<32 - 1

func (o *orderCheck) next(m message, r *record) error {
	if r.session != o.session {
		*o = orderCheck{session: r.session}
	}
	if r.state&(recordDropped|recordTaken) != 0 {
		return nil
	}
	post := r.post
	if r.state&recordMatched == 0 {
		if r.state&recordEnded == 0 || r.code != endpoint.Success && r.code != endpoint.Truncated {
			return nil // it ended with its session, as its sender knows
		}
		post = never
	}
	if post != never {
		switch {
		case r.scope == scopeAll && o.all > post:
			return fmt.Errorf("message %v overtook %v: receive %d got it, %d the earlier one", m, o.lastAll, post, o.all)
		case r.scope == scopeClass && o.class[m.class] > post:
			return fmt.Errorf("message %v overtook %v: receive %d got it, %d the earlier one", m, o.last[m.class], post, o.class[m.class])
		}
	}
	if post > o.all {
		o.all, o.lastAll = post, m
	}
	if post > o.class[m.class] {
		o.class[m.class], o.last[m.class] = post, m
	}
	return nil
}

// String names a message in reports.
func (m message) String() string {
	return fmt.Sprintf("%d.%d>%d #%d class %d", m.from, m.life, m.to, m.number, m.class)
}
