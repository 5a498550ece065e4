package coll

import "gomx/mpi/internal/elem"

// Plan is a Net that carries nothing: an algorithm that is given one notes there, step by step, what its rank has to do, and returns at once
// without an error. Whoever has the plan takes the steps later, in their order, and may do something else while one of them waits. That works because
// the steps of an algorithm follow from ranks and lengths alone, and never from data.
//
// What an algorithm does itself between messages is a step as well: move, combine and Do see to that.
type Plan struct {
	Net   // for Rank, Size and Scratch; what is noted is not passed on
	Steps []Step
}

// Step is a part of a plan.
type Step struct {
	Kind     StepKind
	To, From int32  // ranks
	Out, In  []byte // what is sent, and what is received into; of a move the source and the target; of Combine In and Acc
	op       operation
	do       func() error
}

// StepKind says what a step does.
type StepKind uint8

// The steps: one for each call of a Net that carries something, and Work, which is the rank's own.
const (
	StepSend StepKind = iota
	StepRecv
	StepSendrecv
	StepIsend
	StepIrecv
	StepWaitAll
	stepMove
	stepCombine
	stepDo
)

// Sends reports whether the step sends something.
func (s *Step) Sends() bool {
	return s.Kind == StepSend || s.Kind == StepSendrecv || s.Kind == StepIsend
}

// Receives reports whether the step receives something.
func (s *Step) Receives() bool {
	return s.Kind == StepRecv || s.Kind == StepSendrecv || s.Kind == StepIrecv
}

// Waits reports whether the next step comes only when what this one begins is over, or all that was begun.
func (s *Step) Waits() bool { return s.Kind <= StepSendrecv || s.Kind == StepWaitAll }

// Connect does nothing: whoever has the plan sees in its steps what they need.
func (p *Plan) Connect() {}

// Clear makes the plan one without steps, which keeps nothing alive.
func (p *Plan) Clear() {
	clear(p.Steps)
	p.Net, p.Steps = nil, p.Steps[:0]
	if cap(p.Steps) > keptSteps {
		p.Steps = nil
	}
}

// keptSteps is up to how many steps the memory of a plan is kept.
const keptSteps = 256

// Messages does all steps but the rank's own work on another Net.
func (p *Plan) Messages(n Net) error {
	for i := range p.Steps {
		if err := p.Steps[i].message(n); err != nil {
			return err
		}
	}
	return nil
}

// Run does all steps on another Net.
func (p *Plan) Run(n Net) error {
	for i := range p.Steps {
		s := &p.Steps[i]
		err := s.message(n)
		if s.Kind > StepWaitAll {
			err = s.Work()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Step) message(n Net) error {
	switch s.Kind {
	case StepSend:
		return n.Send(s.Out, int(s.To))
	case StepRecv:
		return n.Recv(s.In, int(s.From))
	case StepSendrecv:
		return n.Sendrecv(s.Out, int(s.To), s.In, int(s.From))
	case StepIsend:
		return n.Isend(s.Out, int(s.To))
	case StepIrecv:
		return n.Irecv(s.In, int(s.From))
	case StepWaitAll:
		return n.WaitAll()
	}
	return nil
}

// Work does a step that carries no message. Its error ends the operation.
func (s *Step) Work() error {
	switch s.Kind {
	case stepMove:
		copy(s.In, s.Out)
	case stepCombine:
		s.op.combine(s.In, s.Out)
	case stepDo:
		return s.do()
	}
	return nil
}

// Send notes a send.
func (p *Plan) Send(b []byte, to int) error {
	return p.note(Step{Kind: StepSend, Out: b, To: int32(to)})
}

// Recv notes a receive.
func (p *Plan) Recv(b []byte, from int) error {
	return p.note(Step{Kind: StepRecv, In: b, From: int32(from)})
}

// Sendrecv notes both.
func (p *Plan) Sendrecv(send []byte, to int, recv []byte, from int) error {
	return p.note(Step{Kind: StepSendrecv, Out: send, To: int32(to), In: recv, From: int32(from)})
}

// Isend notes that a send begins.
func (p *Plan) Isend(b []byte, to int) error {
	return p.note(Step{Kind: StepIsend, Out: b, To: int32(to)})
}

// Irecv notes that a receive begins.
func (p *Plan) Irecv(b []byte, from int) error {
	return p.note(Step{Kind: StepIrecv, In: b, From: int32(from)})
}

// WaitAll notes a wait.
func (p *Plan) WaitAll() error { return p.note(Step{Kind: StepWaitAll}) }

func (p *Plan) note(s Step) error {
	p.Steps = append(p.Steps, s)
	return nil
}

// operation combines elements whose type is known to it alone. It holds a function, and so needs no memory.
type operation interface{ combine(acc, in []byte) }

type typed[T any] func(acc, in []T)

func (op typed[T]) combine(acc, in []byte) { op(elem.Elements[T](acc), elem.Elements[T](in)) }

// combine has acc be acc op in, now or when a plan comes to it.
func combine[T any](n Net, op func(acc, in []T), acc, in []T) {
	if p, later := n.(*Plan); later {
		_ = p.note(Step{Kind: stepCombine, In: bytes(acc), Out: bytes(in), op: typed[T](op)})
		return
	}
	op(acc, in)
}

// Move copies from src to dst, now or when a plan comes to it, and returns the number of bytes. What is in place already is
// not written: another rank may be reading it.
func Move(n Net, dst, src []byte) int {
	if len(dst) > 0 && len(src) > 0 && &dst[0] == &src[0] {
		return min(len(dst), len(src))
	}
	if p, later := n.(*Plan); later {
		_ = p.note(Step{Kind: stepMove, In: dst, Out: src})
		return min(len(dst), len(src))
	}
	return copy(dst, src)
}

// move is Move of elements.
func move[T any](n Net, dst, src []T) { Move(n, bytes(dst), bytes(src)) }

// Do calls f, now or when a plan comes to it. Its error ends the operation.
func Do(n Net, f func() error) error {
	if p, later := n.(*Plan); later {
		return p.note(Step{Kind: stepDo, do: f})
	}
	return f()
}
