package stream

import "testing"

// couple is both ends joined by nothing but their numbers: every message arrives at
// once, in the hand.
type couple struct {
	s        Sender
	r        Receiver
	posted   queue[uint32]
	wire     [MessageSize]byte
	heard    Message
	finished int
}

func newCouple(tb testing.TB, c Config) *couple {
	tb.Helper()
	p := &couple{}
	if err := p.s.Init(c); err != nil {
		tb.Fatal(err)
	}
	if err := p.r.Init(c); err != nil {
		tb.Fatal(err)
	}
	return p
}

func (p *couple) run(tb testing.TB) {
	var a Action
	var err error
	for err == nil {
		switch {
		case p.s.Next(&a):
			err = p.fromSender(&a)
		case p.r.Next(&a):
			err = p.fromReceiver(&a)
		default:
			return
		}
	}
	tb.Fatal(err)
}

func (p *couple) fromSender(a *Action) error {
	switch a.Do {
	case ToSend:
		p.s.Sent(a.ID)
		if a.Direct {
			p.posted.pop()
			return p.r.Landed(a.Number, a.N)
		}
		return p.r.Here(false, a.Number, a.N)
	case ToTell:
		return p.tell(&a.Tell)
	}
	p.finished++
	return nil
}

func (p *couple) fromReceiver(a *Action) error {
	switch a.Do {
	case ToPost:
		*p.posted.push() = a.Number
	case ToUnpost:
		p.posted.popBack()
		return p.r.Unposted(a.Number, true)
	case ToTell:
		return p.tell(&a.Tell)
	case ToFinish:
		p.finished++
	}
	return nil
}

// tell hands a control message to the end it is for, through its code.
func (p *couple) tell(m *Message) error {
	m.Encode(&p.wire)
	if err := Decode(&p.heard, p.wire[:]); err != nil {
		return err
	}
	if p.heard.Kind.ForSender() {
		return p.s.Message(&p.heard)
	}
	return p.r.Message(&p.heard)
}

// rounds are the usual ways of a stream, one send and one receive each.
var rounds = []struct {
	name         string
	sendFirst    bool
	send, room   int
	flags        Flags
	direct, copy bool
}{
	{"direct", false, 64 << 10, 64 << 10, 0, true, false},
	{"pieces", false, 3 << 20, 3 << 20, WaitAll, true, false},
	{"small", false, 64, 64, 0, false, false},
	{"behind", true, 16 << 10, 16 << 10, 0, false, true},
	{"peek", true, 100, 100, Peek, false, true},
}

func TestSteadyStateAllocatesNothing(t *testing.T) {
	for _, round := range rounds {
		p := newCouple(t, Config{})
		id := ID(0)
		one := func() {
			id++
			if round.sendFirst {
				if p.s.Send(id, round.send) != nil {
					t.Fatal("not sent")
				}
				p.run(t)
			}
			if round.flags&Peek != 0 && p.r.Receive(id|1<<62, round.room, Peek) != nil {
				t.Fatal("not received")
			}
			if p.r.Receive(id|1<<63, round.room, round.flags&^Peek) != nil {
				t.Fatal("not received")
			}
			p.run(t)
			if !round.sendFirst {
				if p.s.Send(id, round.send) != nil {
					t.Fatal("not sent")
				}
				p.run(t)
			}
		}
		for range 20 {
			one()
		}
		if n := testing.AllocsPerRun(200, one); n != 0 {
			t.Errorf("%s: %v allocations", round.name, n)
		}
		want := 2
		if round.flags&Peek != 0 {
			want = 3
		}
		if p.finished != want*int(id) {
			t.Errorf("%s: %d operations finished of %d", round.name, p.finished, want*int(id))
		}
		c := p.r.Counters()
		if (c.DirectBytes > 0) != round.direct || (c.CopiedBytes > 0) != round.copy {
			t.Errorf("%s: %+v", round.name, c)
		}
	}
}

func BenchmarkRounds(b *testing.B) {
	for _, round := range rounds[:4] {
		b.Run(round.name, func(b *testing.B) {
			p := newCouple(b, Config{})
			for i := range ID(b.N) {
				if round.sendFirst {
					_ = p.s.Send(i, round.send)
					p.run(b)
				}
				_ = p.r.Receive(i, round.room, round.flags)
				p.run(b)
				if !round.sendFirst {
					_ = p.s.Send(i, round.send)
					p.run(b)
				}
			}
		})
	}
}
