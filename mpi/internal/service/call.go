package service

import (
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"sync"

	"gomx/mx"
)

// idSize is the size of the sender's number in bytes, which stands before the head. Heads whose length is a multiple of it
// keep the data aligned.
const idSize = 8

// ErrClosed is what calls return after Close.
var ErrClosed = errors.New("the service is closed")

// ErrRefused is what a call returns if the other process has no handler for the question, or its answer does not fit.
var ErrRefused = errors.New("the other process refuses the question")

// Question is a question or a note, as its handler gets it.
type Question struct {
	From int    // the process that asks
	Head []byte // of the length that Handle was told; the handler's until it returns
	Data []byte // likewise, 8-byte aligned if it comes from another process

	s      *Service
	from   mx.EndpointAddr
	number uint32 // 0: no answer is wanted
	local  *call  // it comes from the own process
}

// Later returns a copy of the question that may be answered after the handler has returned. It has neither head nor data.
func (q *Question) Later() *Question {
	later := *q
	later.Head, later.Data = nil, nil
	return &later
}

// Answer sends head and data together as the answer. It may be called once. Both slices may be used again when it returns.
// It has no effect for a note.
func (q *Question) Answer(head, data []byte) {
	if q.local != nil {
		q.local.answer = append(append(q.local.answer[:0], head...), data...)
		q.local.done <- struct{}{}
		return
	}
	if q.number == 0 {
		return
	}
	bits := answerBit | uint64(q.number)
	text := head
	if len(data) > 0 {
		text = slices.Concat(head, data)
	}
	if q.s.ep.SendNow(text, q.from, bits) {
		return
	}
	if len(data) == 0 {
		text = slices.Clone(head)
	}
	q.s.leave(text, q.from, bits) // the other questions should not wait for a process that is slow to receive its answer
}

// Reply sends a note to the process that has asked, by the session of the question: if that is over, the process gets nothing. It does
// not block, and head may be reused when it returns. The question comes from another process.
func (q *Question) Reply(kind Kind, head []byte) {
	q.s.leave(q.s.introduce(nil, head), q.from, noteBits(kind))
}

// leave sends a text that belongs to the service, and does not wait for its completion.
func (s *Service) leave(text []byte, to mx.EndpointAddr, bits uint64) {
	if r, err := s.ep.Isend(text, to, bits, nil); err == nil {
		_ = s.ep.Forget(r)
	}
}

// call is a question or note on its way.
type call struct {
	front  []byte // the sender's number, and the head
	segs   [2][]byte
	own    Question      // to the own process
	answer []byte        // of the own process
	done   chan struct{} // gets a value when the answer has come
}

var calls = sync.Pool{New: func() any { return &call{done: make(chan struct{}, 1)} }}

// Call sends a question to a process and waits for its answer. It returns the number of bytes in answer that the answer has
// filled, which is at least 1. The question consists of head followed by data.
//
// If ctx ends, Call returns its error. The other process may still handle the question at any later time, and its answer is
// then dropped. The caller may reuse head in any case. It must not reuse data and answer after an error: until the other
// process goes on, data may be read and answer may be written. Other errors are ErrRefused, the error of a failed connect,
// the status of a broken session, and the error given to Lose.
func (s *Service) Call(ctx context.Context, process int, kind Kind, head, data, answer []byte) (int, error) {
	if s.closed.Load() {
		return 0, ErrClosed
	}
	if process == s.self {
		return s.callSelf(ctx, kind, head, data, answer)
	}
	p, addr, err := s.reach(ctx, process)
	if err != nil {
		return 0, err
	}
	number := s.number()
	in, err := s.ep.IrecvFrom(answer, addr, answerBit|uint64(number), exactly, nil)
	if err != nil {
		return 0, err
	}
	if err := s.send(ctx, p, addr, kind, number, head, data); err != nil {
		_, _, _ = s.ep.Abandon(in)
		return 0, err
	}
	st, err := s.await(ctx, p, in)
	switch {
	case err != nil:
		return 0, err
	case st.Code == mx.StatusTruncated, st.Code == mx.StatusSuccess && st.MsgLength == 0:
		return 0, ErrRefused
	case st.Code != mx.StatusSuccess:
		return 0, st.Code
	}
	return int(st.XferLength), nil
}

// Tell sends a note, and returns when data may be reused, or when ctx ends. In the latter case the note may still arrive. Head,
// data and errors are as for Call.
func (s *Service) Tell(ctx context.Context, process int, kind Kind, head, data []byte) error {
	if s.closed.Load() {
		return ErrClosed
	}
	if process == s.self {
		s.handlers[kind].f(&Question{s: s, From: s.self, Head: head, Data: data})
		return nil
	}
	p, addr, err := s.reach(ctx, process)
	if err != nil {
		return err
	}
	return s.send(ctx, p, addr, kind, 0, head, data)
}

// Post sends a note after all questions and notes that this process has sent to that one before. It does not block, and head
// may be reused when it returns. It has no effect for a process that is not connected.
func (s *Service) Post(process int, kind Kind, head []byte) {
	if process == s.self {
		s.handlers[kind].f(&Question{s: s, From: s.self, Head: head})
		return
	}
	if s.ep == nil || process < 0 || process >= len(s.peers) {
		return
	}
	if addr := s.peers[process].addr.Load(); addr != nil {
		s.leave(s.introduce(nil, head), *addr, noteBits(kind))
	}
}

// Reached reports whether a process is connected, so that a note reaches it.
func (s *Service) Reached(process int) bool {
	if process == s.self {
		return true
	}
	return s.ep != nil && process >= 0 && process < len(s.peers) && s.peers[process].addr.Load() != nil
}

// number returns the number of a question, which is not 0.
func (s *Service) number() uint32 {
	for {
		if n := s.next.Add(1); n != 0 {
			return n
		}
	}
}

// introduce appends the sender's number and a head to b.
func (s *Service) introduce(b, head []byte) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(s.self)), head...)
}

// noteBits returns the match bits of a note. Those of a question have its number too.
func noteBits(kind Kind) uint64 { return uint64(kind) << kindShift }

// send sends a question or note, and waits until data may be reused. It copies head.
func (s *Service) send(ctx context.Context, p *peer, addr mx.EndpointAddr, kind Kind, number uint32, head, data []byte) error {
	c := calls.Get().(*call)
	c.front = s.introduce(c.front[:0], head)
	c.segs = [2][]byte{c.front, data}
	r, err := s.ep.Isendv(c.segs[:], addr, noteBits(kind)|uint64(number), nil)
	if err != nil {
		return err
	}
	st, err := s.await(ctx, p, r)
	if err != nil {
		return err // c stays with the send, which may not be over
	}
	c.segs = [2][]byte{}
	calls.Put(c)
	if st.Code != mx.StatusSuccess {
		return st.Code
	}
	return nil
}

// await waits for a request that depends on a process. If it returns no error, the request is complete, with that status.
// Otherwise ctx has ended, the endpoint is closed, or Lose was called for the process, and the request was abandoned.
func (s *Service) await(ctx context.Context, p *peer, r mx.Request) (st mx.Status, err error) {
	for {
		var done bool
		st, done, err = s.waitOnce(ctx, r)
		if done || err != nil && ctx.Done() == nil {
			return st, err
		}
		if err == nil {
			err = p.gone() // Wakeup has ended waitOnce
		}
		if err != nil {
			break
		}
	}
	fate, st, lost := s.ep.Abandon(r)
	if lost == nil && fate == mx.FateEnded {
		return st, nil // the request was complete before it could be abandoned
	}
	return st, err
}

// waitOnce waits for a request. Wakeup makes it return without an error, and with done false.
func (s *Service) waitOnce(ctx context.Context, r mx.Request) (st mx.Status, done bool, err error) {
	if ctx.Done() == nil {
		return s.ep.Wait(r, mx.Infinite)
	}
	st, err = s.ep.WaitContext(ctx, r)
	switch {
	case err == nil || st.Code != mx.StatusSuccess:
		return st, true, nil
	case ctx.Err() != nil:
		return st, false, ctx.Err()
	case errors.Is(err, mx.ErrTimeout):
		return st, false, nil
	}
	return st, false, err
}

// ownAtATime is the number of calls to the own process after which others get a turn. A loop of such calls never blocks: on a
// single processor, the service would not hear other processes for many milliseconds.
const ownAtATime = 64

// callSelf asks the own process.
func (s *Service) callSelf(ctx context.Context, kind Kind, head, data, answer []byte) (int, error) {
	c := calls.Get().(*call)
	c.own = Question{s: s, From: s.self, Head: head, Data: data, local: c}
	s.handlers[kind].f(&c.own)
	if s.ep != nil && s.asked.Add(1)%ownAtATime == 0 {
		_ = s.ep.Progress()
		runtime.Gosched()
	}
	select {
	case <-c.done:
	case <-ctx.Done():
		select {
		case <-c.done: // the answer has come
		default:
			return 0, ctx.Err() // c stays with the question, which may be answered yet
		}
	case <-s.over:
		return 0, ErrClosed
	}
	c.own = Question{}
	defer calls.Put(c)
	if len(c.answer) == 0 || len(c.answer) > len(answer) {
		return 0, ErrRefused
	}
	return copy(answer, c.answer), nil
}
