package main

import (
	"errors"
	"runtime"

	"gomx/exs"
)

// persistentCourse sends into a persistent receive of the other side, which looks at its
// memory. Each side has as many places there as messages are in flight.
type persistentCourse struct {
	*exsCourse
	field []byte
	mem   *exs.Memory
	times uint64 // the other side has written that we know of
}

func newPersistent(c *exsCourse) (course, error) {
	p := &persistentCourse{exsCourse: c, field: make([]byte, len(c.slots)*c.Length)}
	var err error
	if p.mem, err = c.l.Register(p.field, 0); err == nil {
		_, err = c.s.Recv(p.field, exs.Persistent|exs.Unsignaled, nil, nil, p.mem)
	}
	if err != nil {
		return nil, errors.Join(err, c.l.Close())
	}
	return p, nil
}

func (p *persistentCourse) close() error {
	return errors.Join(p.s.BlockingClose(), p.q.Delete(), p.exsCourse.mem.Deregister(0), p.mem.Deregister(0), p.l.Close())
}

// place is where the messages of a slot come.
func (p *persistentCourse) place(slot int) []byte { return p.field[slot*p.Length:][:p.Length] }

// looksAtOnce is how often a side looks before it lets others have its core.
const looksAtOnce = 1000

// await looks until the other side has written n times more.
func (p *persistentCourse) await(n int) error {
	p.times += uint64(n)
	for looks := 1; ; looks++ {
		switch times, err := p.s.PollPersistent(); {
		case err != nil:
			return err
		case times >= p.times:
			return nil
		}
		if looks%looksAtOnce == 0 {
			runtime.Gosched()
		}
	}
}

// write sends a message of a slot to its place.
func (p *persistentCourse) write(slot int) error {
	_, err := p.s.SendOffset(p.slots[slot], slot*p.Length, 0, p.q, slot, p.exsCourse.mem)
	return err
}

// tell sends b, which is then free at the latest when the answer is here.
func (p *persistentCourse) tell(b []byte, m *exs.Memory) error {
	_, err := p.s.SendOffset(b, 0, exs.Unsignaled|exs.CreditWait, nil, nil, m)
	return err
}

func (p *persistentCourse) blast(count int, check bool) error {
	nothing := func() error { return nil }
	ended := func(int) error { return nil }
	if !check {
		if err := p.flow(count, func(slot, _ int) error { return p.write(slot) }, nothing, ended); err != nil {
			return err
		}
		return p.await(1)
	}
	for first := 0; first < count; first += p.InFlight { // what is checked must not be written again
		begin := func(slot, number int) error {
			stamp(p.slots[slot], first+number)
			return p.write(slot)
		}
		if err := p.flow(min(p.InFlight, count-first), begin, nothing, ended); err != nil {
			return err
		}
		if err := p.await(1); err != nil {
			return err
		}
	}
	return nil
}

func (p *persistentCourse) take(count int, check bool, ready func() error) error {
	if err := ready(); err != nil {
		return err
	}
	round := count
	if check {
		round = p.InFlight
	}
	for first := 0; first < count; first += round {
		n := min(round, count-first)
		if err := p.await(n); err != nil {
			return err
		}
		for slot := 0; check && slot < n; slot++ {
			if err := verify(p.place(slot), first+slot); err != nil {
				return err
			}
		}
		if err := p.tell([]byte{1}, exs.Unregistered); err != nil {
			return err
		}
	}
	return nil
}

func (p *persistentCourse) lead(first, count int, check bool) error {
	for number := first; number < first+count; number++ {
		if check {
			stamp(p.slots[0], number)
			clear(p.place(0))
		}
		if err := p.tell(p.slots[0], p.exsCourse.mem); err != nil {
			return err
		}
		if err := p.exchanged(number, check); err != nil {
			return err
		}
	}
	return nil
}

// exchanged waits for a message, and looks at it.
func (p *persistentCourse) exchanged(number int, check bool) error {
	if err := p.await(1); err != nil || !check {
		return err
	}
	return verify(p.place(0), number)
}

// follow answers from where the message lies.
func (p *persistentCourse) follow(count int, check bool, ready func() error) error {
	if err := ready(); err != nil {
		return err
	}
	for number := range count {
		if err := p.exchanged(number, check); err != nil {
			return err
		}
		if err := p.tell(p.place(0), p.mem); err != nil {
			return err
		}
	}
	return nil
}
