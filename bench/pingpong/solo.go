package pingpong

import (
	"context"
	"errors"

	"gomx/mx"
)

// solo is an endpoint that exchanges messages with itself. Its round trip is two
// messages, one after the other.
type solo struct {
	*side
	inbox []byte // to receive into: the buffer can't be both ends of one message
	recvs []mx.Request
}

func alone(ctx context.Context, ep *mx.Endpoint, filter uint32, p *Plan, w Watcher) (err error) {
	s, err := newSide(ctx, ep, ep.Addr(), filter)
	if err != nil {
		return err
	}
	s.plan = *p
	defer func() { err = errors.Join(err, s.free()) }()
	if err := s.allocate(); err != nil {
		return err
	}
	own := &solo{s, make([]byte, len(s.buf)), make([]mx.Request, len(s.reqs))}
	Fill(own.inbox, 0)
	if p.OneSided != NoOneSided {
		if own.window, err = own.openWindow(own.inbox); err != nil {
			return err
		}
	}
	return measure(own, p, w)
}

func (o *solo) park() error {
	if err := o.postStrangers(); err != nil {
		return err
	}
	return o.sendParked()
}

func (o *solo) begin(length, _ int) error {
	if o.plan.OneSided != NoOneSided {
		return o.prepare(length)
	}
	return nil
}

func (o *solo) exchange(length, count int) error {
	if o.plan.OneSided != NoOneSided {
		return o.accessAll(length, count)
	}
	back := length
	if o.plan.Window > 0 {
		back = 0
	}
	for i := range count {
		if i%atOnce == 0 && o.ctx.Err() != nil {
			return o.ctx.Err()
		}
		if err := o.pass(length, len(o.reqs), matchOut); err != nil {
			return err
		}
		if err := o.pass(back, 1, matchBack); err != nil {
			return err
		}
		o.exchanged++
	}
	return nil
}

// pass sends some messages of a length from the endpoint to itself.
func (o *solo) pass(length, messages int, match uint64) (err error) {
	if o.plan.Verify {
		o.write(length, match)
	}
	for i := range messages {
		if o.recvs[i], err = o.ep.Irecv(o.inbox[:length], match, mx.MatchMaskNone, nil); err != nil {
			return err
		}
	}
	for i := range messages {
		if o.reqs[i], err = o.isend(length, match); err != nil {
			return err
		}
	}
	for i := range messages {
		if err := o.wait(o.reqs[i]); err != nil {
			return err
		}
		if err := o.wait(o.recvs[i]); err != nil {
			return err
		}
	}
	if o.plan.Verify && o.corrupt == nil {
		o.corrupt = Verify(o.inbox[:length], o.seed(match))
	}
	return nil
}

// accessAll is access with looks at the context.
func (o *solo) accessAll(length, count int) error {
	for ; count > 0; count -= atOnce {
		if err := o.ctx.Err(); err != nil {
			return err
		}
		if err := o.access(length, min(count, atOnce)); err != nil {
			return err
		}
	}
	return nil
}

func (o *solo) end(length int) error {
	if o.plan.OneSided != NoOneSided {
		return o.checkWindow(length)
	}
	return o.corrupt
}

func (o *solo) clear() (float64, error) {
	us, err := o.takeParked()
	if err != nil {
		return 0, err
	}
	return us, o.dropStrangers()
}
