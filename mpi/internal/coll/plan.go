package coll

import "gomx/mpi/internal/elem"

// Plan is a Net that carries no messages: it records the steps that an algorithm makes, without an error, and the algorithm
// returns at once. The steps are executed later, in order, and the executing goroutine may do something else while one of
// them waits. This works because the steps of an algorithm follow from ranks and lengths, and never from data.
//
// Work of the algorithm between messages is recorded as a step as well, by move, combine and Do.
type Plan struct {
	Net   // for Rank, Size and Scratch; messages are not passed on to it
	Steps []Step
}

// Step is a part of a plan.
type Step struct {
	Kind     StepKind
	To, From int32  // ranks
	Out, In  []byte // the buffers of the send and the receive; source and target of a move; second operand and accumulator of a combine
	op       operation
	do       func() error
}

// StepKind says what a step does.
type StepKind uint8

// The steps. The first six are calls of a Net. The others are work of the rank itself.
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

// Waits reports whether the next step must wait for the completion of this one, or, for StepWaitAll, of all that were started.
func (s *Step) Waits() bool { return s.Kind <= StepSendrecv || s.Kind == StepWaitAll }

// Connect does nothing: the steps of the plan show which connections they need.
func (p *Plan) Connect() {}

// Clear removes all steps, and their references to buffers.
func (p *Plan) Clear() {
	clear(p.Steps)
	p.Net, p.Steps = nil, p.Steps[:0]
	if cap(p.Steps) > keptSteps {
		p.Steps = nil
	}
}

// keptSteps is the number of steps up to which Clear keeps the memory of a plan.
const keptSteps = 256

// Messages executes the steps that carry messages on another Net.
func (p *Plan) Messages(n Net) error {
	for i := range p.Steps {
		if err := p.Steps[i].message(n); err != nil {
			return err
		}
	}
	return nil
}

// Run executes all steps on another Net.
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

// Work executes a step that carries no message. Its error ends the operation.
func (s *Step) Work() error {
	switch s.Kind {
	case stepMove:
		copyBytes(s.In, s.Out)
	case stepCombine:
		s.op.combine(s.In, s.Out)
	case stepDo:
		return s.do()
	}
	return nil
}

// Send records a send.
func (p *Plan) Send(b []byte, to int) error {
	return p.note(Step{Kind: StepSend, Out: b, To: int32(to)})
}

// Recv records a receive.
func (p *Plan) Recv(b []byte, from int) error {
	return p.note(Step{Kind: StepRecv, In: b, From: int32(from)})
}

// Sendrecv records a send and a receive that go on at the same time.
func (p *Plan) Sendrecv(send []byte, to int, recv []byte, from int) error {
	return p.note(Step{Kind: StepSendrecv, Out: send, To: int32(to), In: recv, From: int32(from)})
}

// Isend records the start of a send.
func (p *Plan) Isend(b []byte, to int) error {
	return p.note(Step{Kind: StepIsend, Out: b, To: int32(to)})
}

// Irecv records the start of a receive.
func (p *Plan) Irecv(b []byte, from int) error {
	return p.note(Step{Kind: StepIrecv, In: b, From: int32(from)})
}

// WaitAll records a wait.
func (p *Plan) WaitAll() error { return p.note(Step{Kind: StepWaitAll}) }

func (p *Plan) note(s Step) error {
	p.Steps = append(p.Steps, s)
	return nil
}

// operation combines elements of a type that only it knows. Its dynamic value is a function, so that making one does not allocate.
type operation interface{ combine(acc, in []byte) }

type typed[T any] func(acc, in []T)

func (op typed[T]) combine(acc, in []byte) { op(elem.Elements[T](acc), elem.Elements[T](in)) }

// combine sets acc to acc op in, at once or as a step of a plan.
func combine[T any](n Net, op func(acc, in []T), acc, in []T) {
	if p, later := n.(*Plan); later {
		_ = p.note(Step{Kind: stepCombine, In: bytes(acc), Out: bytes(in), op: typed[T](op)})
		return
	}
	op(acc, in)
}

// Move copies from src to dst, at once or as a step of a plan, and returns the number of bytes. It does not write dst if it is
// the same memory as src: another rank may be reading it.
func Move(n Net, dst, src []byte) int {
	if len(dst) > 0 && len(src) > 0 && &dst[0] == &src[0] {
		return min(len(dst), len(src))
	}
	if p, later := n.(*Plan); later {
		_ = p.note(Step{Kind: stepMove, In: dst, Out: src})
		return min(len(dst), len(src))
	}
	return copyBytes(dst, src)
}

// move is Move for elements.
func move[T any](n Net, dst, src []T) { Move(n, bytes(dst), bytes(src)) }

// Do calls f, at once or as a step of a plan. Its error ends the operation.
func Do(n Net, f func() error) error {
	if p, later := n.(*Plan); later {
		return p.note(Step{Kind: stepDo, do: f})
	}
	return f()
}
