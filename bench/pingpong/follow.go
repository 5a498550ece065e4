package pingpong

import (
	"context"
	"errors"
	"fmt"

	"gomx/mx"
)

// follower is the side that does as it is told.
type follower struct{ *side }

// follow takes the next leader that comes to the endpoint, and serves it to the
// end. found is whether one came. An error without it means that the endpoint can't
// be used any more.
func follow(ctx context.Context, ep *mx.Endpoint, filter uint32) (leader mx.EndpointAddr, found bool, err error) {
	var params [controlMax]byte
	r, err := ep.Irecv(params[:], matchParams, mx.MatchMaskNone, nil)
	if err != nil {
		return leader, false, err
	}
	var st mx.Status
	for done := false; !done; {
		if st, done, err = ep.Wait(r, lookAfter); err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return leader, false, err
		}
	}
	s, err := newSide(ctx, ep, st.Source, filter)
	if err != nil {
		return st.Source, true, err
	}
	f := follower{s}
	err = f.serve(params[:st.XferLength])
	if err != nil && !errors.Is(err, ErrCorrupt) {
		// What a broken session left behind must not reach the next one.
		_ = ep.Disconnect(st.Source)
	}
	return st.Source, true, errors.Join(err, s.free())
}

// serve serves a session. Corrupt messages don't end it, but are its result.
func (f follower) serve(params []byte) error {
	plan, err := parseParams(params)
	if err == nil {
		f.plan = plan
		err = f.allocate()
	}
	if err != nil {
		return errors.Join(fmt.Errorf("refused %v: %w", f.peer, err), f.answer(answer{failure: err.Error()}))
	}
	if err := f.answer(answer{}); err != nil {
		return err
	}
	var corrupt error
	for {
		b, err := f.hear()
		if err != nil {
			return err
		}
		o, err := parseOrder(b, plan.longest())
		if err != nil {
			return errors.Join(err, f.answer(answer{failure: err.Error()}))
		}
		if o.kind == orderFinish {
			return errors.Join(corrupt, f.answer(answer{}))
		}
		if err := f.obey(o); err != nil {
			return err
		}
		if corrupt == nil {
			corrupt = f.corrupt
		}
		f.corrupt = nil
	}
}

func (f follower) obey(o order) error {
	switch o.kind {
	case orderPark:
		if err := f.postStrangers(); err != nil {
			return err
		}
		return f.answer(answer{})
	case orderWindow:
		return f.tellWindow()
	case orderRun:
		if f.plan.Stream {
			return f.serveStream(o)
		}
		if err := f.answer(answer{}); err != nil {
			return err
		}
		if err := f.exchange(o.length, o.count); err != nil {
			return err
		}
		if f.corrupt != nil {
			return f.answer(answer{failure: f.corrupt.Error(), corrupt: true})
		}
		return f.answer(answer{})
	}
	us, err := f.takeParked()
	if err := errors.Join(err, f.dropStrangers()); err != nil {
		return err
	}
	return f.answer(answer{value: us})
}

// tellWindow opens the buffer to the leader, and says where it is.
func (f follower) tellWindow() error {
	handle, err := f.openWindow(f.buf)
	if err != nil {
		return errors.Join(err, f.answer(answer{failure: err.Error()}))
	}
	if err := f.answer(answer{}); err != nil {
		return err
	}
	b, err := handle.MarshalBinary()
	if err != nil {
		return err
	}
	return f.tell(matchControl, b)
}

func (f follower) answer(a answer) error { return f.tell(matchControl, a.append(nil)) }

func (f follower) exchange(length, count int) error {
	for ; count > 0; count -= atOnce {
		if err := f.ctx.Err(); err != nil {
			return err
		}
		if err := f.some(length, min(count, atOnce)); err != nil {
			return err
		}
	}
	return nil
}

func (f follower) some(length, count int) error {
	switch {
	case f.plan.Verify || f.plan.Sync:
		return f.reply(length, count)
	case f.plan.Window > 0:
		return f.drain(length, count)
	}
	return f.pong(length, count)
}
