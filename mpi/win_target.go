package mpi

import (
	"bytes"
	"sync"

	"gomx/mpi/internal/queue"
	"gomx/mpi/internal/service"
	"gomx/mx"
)

// exposed is the memory that a rank of this process exposes in a window, as questions of other ranks find it.
type exposed struct {
	c    *Comm
	mem  []byte
	size int
	kind mx.AtomicType
	win  *mx.Window

	mu    sync.Mutex // held while elements are combined
	own   *Comm      // of the window alone; nil until all ranks have it
	lock  queue.Lock[*service.Question]
	word  lockWord
	wrong map[uint32]byte // by origin: the error of an accumulate
	old   []byte          // elements for an answer
}

// windowKey names the memory of one rank in a window.
type windowKey struct {
	id   uint64
	rank int // in the world
}

// open opens the memory for puts and gets, and the lock's word. After an error nothing is exposed.
func (e *exposed) open() (err error) {
	if err = e.word.open(e.c.seat.ep); err == nil {
		e.win, err = e.c.seat.ep.OpenWindow(e.mem, mx.WindowRead|mx.WindowWrite)
	}
	return err
}

// close ends the exposure. Ranks that wait for the lock are refused.
func (e *exposed) close() {
	e.mu.Lock()
	waiting := e.lock.Close()
	e.mu.Unlock()
	for _, q := range waiting {
		q.Answer([]byte{answerNoWindow}, nil)
	}
	e.word.close()
	if e.win != nil {
		_ = e.win.Close() // it fails if the endpoint is closed, which closes its windows
	}
}

// publish tells the race detector that accumulates here happen after what the owner's endpoint has done, such as puts, and
// before what it does later. They do: the messages that order them cross shared memory or a socket, which the detector does not see.
func (e *exposed) publish() {
	if racing {
		_, _ = e.c.seat.ep.EagerTo(e.c.seat.ep.Addr())
	}
}

// settle waits for accumulates of other ranks that are being handled, so that the owner sees their results.
func (e *exposed) settle() {
	e.mu.Lock()
	defer e.mu.Unlock()
}

// expose makes the memory available to questions. Its lock learns here of failures that were known before, and of later
// ones by dropLocks.
func (p *controlPlane) expose(k windowKey, e *exposed) {
	p.mu.Lock()
	p.windows[k] = e
	p.mu.Unlock()
	for _, rank := range e.c.world {
		if p.job.failures.why(int(rank)) != nil {
			e.rankFailed(int(rank))
		}
	}
}

func (p *controlPlane) withdraw(k windowKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.windows, k)
}

// dropLocks removes a failed rank from all locks and queues.
func (p *controlPlane) dropLocks(rank int) {
	for _, e := range p.exposures() {
		e.rankFailed(rank)
	}
}

// rankFailed ends all rights of a failed rank to the memory. Its later requests are refused, since its lock is passed
// on. The endpoint already refuses its puts and atomics.
func (e *exposed) rankFailed(rank int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.takeOver()
	e.grant(e.lock.Fail(rank))
	e.letGo()
}

// exposures returns the memory of this process in all windows.
func (p *controlPlane) exposures() (all []*exposed) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, e := range p.windows {
		all = append(all, e)
	}
	return all
}

// handleWindows sets the handlers of questions about windows. Each returns the first byte of the answer, or 0 if it
// answers later, and data.
func (p *controlPlane) handleWindows() {
	p.handle(noteAccumulate, (*exposed).accumulated)
	p.handle(askFetch, (*exposed).fetched)
	p.handle(askSwap, (*exposed).swapped)
	p.handle(askFlush, (*exposed).flushed)
	p.handle(askLock, (*exposed).locked)
	p.handle(askUnlock, (*exposed).unlocked)
	p.handle(noteUndo, (*exposed).undone)
}

func (p *controlPlane) handle(kind service.Kind, f func(*exposed, head, *service.Question) (byte, []byte)) {
	p.Handle(kind, headSize, func(q *service.Question) {
		h := readHead(q.Head)
		p.mu.Lock()
		e := p.windows[windowKey{h.id, int(h.target)}]
		p.mu.Unlock()
		if e == nil {
			q.Answer([]byte{answerNoWindow}, nil)
			return
		}
		e.mu.Lock()
		e.publish()
		answer, data := e.refuses(h), []byte(nil)
		if answer == 0 {
			answer, data = f(e, h, q)
		}
		e.publish()
		if answer != 0 {
			e.answer(q, answer, data)
		}
		e.mu.Unlock()
	})
}

// refuses returns the answer to a rank that may not access the memory any more, or 0.
func (e *exposed) refuses(h head) byte {
	switch {
	case e.lock.Closed():
		return answerNoWindow
	case e.lock.Failed(int(h.origin)):
		return answerDead
	}
	return 0
}

// answers are the texts of answers without data.
var answers = [...][1]byte{{}, {answerDone}, {answerNoWindow}, {answerRange}, {answerLock}, {answerDead}}

func (e *exposed) answer(q *service.Question, answer byte, data []byte) {
	q.Answer(answers[answer][:], data)
}

// piece returns the memory that a question refers to.
func (e *exposed) piece(h head, length int) ([]byte, bool) {
	if h.offset > uint64(len(e.mem)) || uint64(length) > uint64(len(e.mem))-h.offset ||
		h.offset%uint64(e.size) != 0 || length%e.size != 0 {
		return nil, false
	}
	return e.mem[h.offset:][:length], true
}

func (e *exposed) accumulated(h head, q *service.Question) (byte, []byte) {
	m, ok := e.piece(h, len(q.Data))
	if !ok || !e.replace(h, m, q.Data) {
		if e.wrong == nil {
			e.wrong = map[uint32]byte{}
		}
		e.wrong[h.origin] = answerRange
	}
	return answerDone, nil
}

// replace handles large elements. It returns false if there is no such operation.
func (e *exposed) replace(h head, mem, in []byte) bool {
	switch AccOp(h.flag) {
	case AccNone:
	case AccReplace:
		copy(mem, in)
	default:
		return false
	}
	return true
}

func (e *exposed) fetched(h head, q *service.Question) (byte, []byte) {
	m, ok := e.piece(h, len(q.Data))
	if !ok {
		return answerRange, nil
	}
	e.old = append(e.old[:0], m...)
	if !e.replace(h, m, q.Data) {
		return answerRange, nil
	}
	return answerDone, e.old
}

func (e *exposed) swapped(h head, q *service.Question) (byte, []byte) {
	m, ok := e.piece(h, e.size)
	if !ok || len(q.Data) != 2*e.size {
		return answerRange, nil
	}
	e.old = append(e.old[:0], m...)
	if bytes.Equal(m, q.Data[:e.size]) {
		copy(m, q.Data[e.size:])
	}
	return answerDone, e.old
}

func (e *exposed) flushed(h head, _ *service.Question) (byte, []byte) {
	answer := e.wrong[h.origin]
	delete(e.wrong, h.origin)
	if answer == 0 {
		answer = answerDone
	}
	return answer, nil
}

func (e *exposed) locked(h head, q *service.Question) (byte, []byte) {
	e.takeOver()
	defer e.letGo()
	switch e.lock.Take(int(h.origin), h.offset, h.flag != 0, q.Later()) {
	case queue.Granted:
		return answerDone, nil
	case queue.Waits:
		return 0, nil
	}
	return answerLock, nil
}

func (e *exposed) unlocked(h head, _ *service.Question) (byte, []byte) {
	e.takeOver()
	defer e.letGo()
	next, held := e.lock.Give(int(h.origin), h.offset)
	if !held {
		return answerLock, nil
	}
	e.grant(next)
	return answerDone, nil
}

func (e *exposed) undone(h head, _ *service.Question) (byte, []byte) {
	e.takeOver()
	defer e.letGo()
	e.grant(e.lock.Undo(int(h.origin), h.offset))
	return answerDone, nil
}

func (e *exposed) grant(tickets []*service.Question) {
	for _, q := range tickets {
		e.answer(q, answerDone, nil)
	}
}
