package main

import (
	"errors"

	"gomx/exs"
)

// Latency is measured with the calls that are quickest: for messages that are
// inlined those that block, for larger ones receives that wait before the message comes.

func (c *exsCourse) lead(first, count int, check bool) error {
	step := c.leadPosted
	if c.inlined {
		step = c.leadInline
	}
	for number := first; number < first+count; number++ {
		if check {
			stamp(c.slots[0], number)
			clear(c.slots[1])
		}
		if err := step(); err != nil {
			return err
		}
		if check {
			if err := verify(c.got[1].bytes, number); err != nil {
				return err
			}
		}
		if err := c.giveBack(1); err != nil {
			return err
		}
	}
	return nil
}

// leadInline sends from slot 0 and receives into slot 1.
func (c *exsCourse) leadInline() error {
	if err := c.sendInline(0); err != nil {
		return err
	}
	c.got[1] = got{bytes: c.slots[1]}
	return c.receiveNow(1)
}

// leadPosted does as well, with the receive posted first.
func (c *exsCourse) leadPosted() error {
	if err := c.receive(1); err != nil {
		return err
	}
	if err := c.send(0); err != nil {
		return err
	}
	return c.await(2)
}

func (c *exsCourse) follow(count int, check bool, ready func() error) error {
	switch {
	case c.Mode == modeInPlace:
		return c.followInPlace(count, check, ready)
	case !c.inlined:
		return c.followPosted(count, check, ready)
	}
	if err := ready(); err != nil {
		return err
	}
	for number := range count {
		if err := c.receiveNow(0); err != nil {
			return err
		}
		if check {
			if err := verify(c.slots[0], number); err != nil {
				return err
			}
		}
		if err := c.sendInline(0); err != nil {
			return err
		}
	}
	return nil
}

// followPosted posts the next receive before it answers, and so uses both slots in turn.
func (c *exsCourse) followPosted(count int, check bool, ready func() error) error {
	if err := c.receive(0); err != nil {
		return err
	}
	if err := ready(); err != nil {
		return err
	}
	events := 1 // and later also the one of the answer
	for number := range count {
		if err := c.await(events); err != nil {
			return err
		}
		events = 2
		slot := number & 1
		if check {
			if err := verify(c.slots[slot], number); err != nil {
				return err
			}
		}
		if number+1 < count {
			if err := c.receive(1 - slot); err != nil {
				return err
			}
		}
		if err := c.send(slot); err != nil {
			return err
		}
	}
	return c.await(1)
}

// followInPlace answers from where the message lies.
func (c *exsCourse) followInPlace(count int, check bool, ready func() error) error {
	if err := c.receive(0); err != nil {
		return err
	}
	if err := ready(); err != nil {
		return err
	}
	for number := range count {
		if err := c.await(1); err != nil {
			return err
		}
		now := c.got[0]
		if check {
			if err := verify(now.bytes, number); err != nil {
				return err
			}
		}
		if number+1 < count {
			if err := c.receive(0); err != nil {
				return err
			}
		}
		if _, err := c.s.BlockingSend(now.bytes, 0, exs.Unregistered); err != nil {
			return err
		}
		if now.inPlace {
			if err := c.s.RecycleRcvBuffer(now.bytes); err != nil {
				return err
			}
		}
	}
	return nil
}

// sendInline sends the message of a slot, which can be used again at once.
func (c *exsCourse) sendInline(slot int) error {
	_, err := c.s.Send(c.slots[slot], exs.Unsignaled|exs.CreditWait, nil, nil, c.from)
	return err
}

// receiveNow waits for a message into a slot.
func (c *exsCourse) receiveNow(slot int) error {
	n, err := c.s.Recv(c.slots[slot], exs.Block|c.taking, nil, nil, c.mem)
	if err == nil && n != c.Length {
		err = errClosed
	}
	return err
}

// errClosed says that no more messages come.
var errClosed = errors.New("the other side has closed the connection")

// await waits for events.
func (c *exsCourse) await(count int) error {
	for count > 0 {
		n, err := c.q.Dequeue(c.events, exs.Infinite)
		if err != nil {
			return err
		}
		for i := range n {
			if _, err := c.seen(&c.events[i]); err != nil {
				return err
			}
		}
		count -= n
	}
	return nil
}
