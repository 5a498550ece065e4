package pingpong

import (
	"context"
	"errors"
	"fmt"

	"gomx/mx"
)

// leader is the side that holds the clock; its follower is elsewhere.
type leader struct{ *side }

// lead measures the plan with the follower at an address.
func lead(ctx context.Context, ep *mx.Endpoint, peer mx.EndpointAddr, filter uint32, p *Plan, w Watcher) (err error) {
	s, err := newSide(ctx, ep, peer, filter)
	if err != nil {
		return err
	}
	s.plan = *p
	l := leader{s}
	defer func() { err = errors.Join(err, s.free()) }()
	if err := s.tell(matchParams, appendParams(nil, p)); err != nil {
		return fmt.Errorf("sending the parameters: %w", err)
	}
	if _, err := l.answered(); err != nil {
		return err
	}
	if err := s.allocate(); err != nil {
		return errors.Join(err, l.finish())
	}
	err = l.learnWindow()
	switch {
	case err != nil:
	case p.Stream:
		err = l.streamAll(w)
	default:
		err = measure(l, p, w)
	}
	if err == nil || errors.Is(err, ErrCorrupt) {
		err = errors.Join(err, l.finish())
	}
	return err
}

func (l leader) order(o order) (answer, error) {
	if err := l.tell(matchControl, o.append(nil)); err != nil {
		return answer{}, err
	}
	return l.answered()
}

func (l leader) answered() (answer, error) {
	b, err := l.hear()
	if err != nil {
		return answer{}, err
	}
	a, err := parseAnswer(b)
	if err == nil {
		err = a.err()
	}
	return a, err
}

func (l leader) finish() error {
	_, err := l.order(order{kind: orderFinish})
	return err
}

// park is done when the messages have arrived: the follower gets the next order
// after them.
func (l leader) park() error {
	if l.plan.Posted == 0 && l.plan.Unexpected == 0 {
		return nil
	}
	if _, err := l.order(order{kind: orderPark}); err != nil {
		return err
	}
	if err := l.postStrangers(); err != nil {
		return err
	}
	return l.sendParked()
}

// learnWindow asks for the follower's window, if there is something to do in it.
func (l leader) learnWindow() error {
	if l.plan.OneSided == NoOneSided {
		return nil
	}
	if _, err := l.order(order{kind: orderWindow}); err != nil {
		return err
	}
	b, err := l.hear()
	if err != nil {
		return err
	}
	return l.window.UnmarshalBinary(b)
}

func (l leader) begin(length, count int) error {
	if l.plan.OneSided != NoOneSided {
		return l.prepare(length)
	}
	_, err := l.order(order{orderRun, length, count})
	return err
}

func (l leader) exchange(length, count int) error {
	for ; count > 0; count -= atOnce {
		if err := l.ctx.Err(); err != nil {
			return err
		}
		if err := l.some(length, min(count, atOnce)); err != nil {
			return err
		}
	}
	return nil
}

func (l leader) some(length, count int) error {
	switch {
	case l.plan.OneSided != NoOneSided:
		return l.access(length, count)
	case l.plan.Verify || l.plan.Sync:
		return l.ask(length, count)
	case l.plan.Window > 0:
		return l.stream(length, count)
	}
	return l.ping(length, count)
}

func (l leader) end(length int) error {
	if l.plan.OneSided != NoOneSided {
		return l.checkWindow(length)
	}
	_, err := l.answered()
	if l.corrupt != nil {
		return l.corrupt
	}
	return err
}

func (l leader) clear() (float64, error) {
	if l.plan.Posted == 0 && l.plan.Unexpected == 0 {
		return 0, nil
	}
	a, err := l.order(order{kind: orderClear})
	return a.value, errors.Join(err, l.dropStrangers())
}
