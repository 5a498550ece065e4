package service

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"sync"

	"gomx/mx"
)

// idSize is how many bytes say who speaks. Heads whose length is a multiple of it keep the
// data aligned.
const idSize = 8

// ErrClosed is what calls return after Close.
var ErrClosed = errors.New("the service is closed")

// ErrRefused is what a call returns if the other process has no use for the question.
var ErrRefused = errors.New("the other process has no use for the question")

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

// Later returns a question to be answered when the handler has returned. Its text is
// gone.
func (q *Question) Later() *Question {
	later := *q
	later.Head, later.Data = nil, nil
	return &later
}

// Answer answers with head and data together, once. Both may be used again when it has
// returned. Of a note it does nothing.
func (q *Question) Answer(head, data []byte) {
	if q.local != nil {
		q.local.text = append(append(q.local.text[:0], head...), data...)
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
	if r, err := q.s.ep.Isend(text, q.from, bits, nil); err == nil {
		_ = q.s.ep.Forget(r) // who asks may be slow to take it: others should not wait for that
	}
}

// call is a question on its way.
type call struct {
	id   [idSize]byte
	segs [3][]byte
	text []byte        // the answer of the own process
	done chan struct{} // says that it is there
}

var calls = sync.Pool{New: func() any { return &call{done: make(chan struct{}, 1)} }}

// Call asks a process, and returns how many bytes of answer it has filled; every answer has
// one at least. Head and data are sent one after the other, and may be used again when it
// returns. Errors: ctx's, whereupon the answer is dropped when it comes; ErrRefused; or how the process
// could not be reached, or is gone.
func (s *Service) Call(ctx context.Context, process int, kind Kind, head, data, answer []byte) (int, error) {
	if s.closed.Load() {
		return 0, ErrClosed
	}
	if process == s.self {
		return s.callSelf(ctx, kind, head, data, answer)
	}
	addr, err := s.reach(ctx, process)
	if err != nil {
		return 0, err
	}
	number := s.number()
	in, err := s.ep.IrecvFrom(answer, addr, answerBit|uint64(number), exactly, nil)
	if err != nil {
		return 0, err
	}
	if err := s.send(ctx, addr, kind, number, head, data); err != nil {
		_, _ = s.ep.Cancel(in)
		return 0, err
	}
	st, err := s.await(ctx, in)
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

// Tell sends a note, and returns when head and data may be used again. Errors as Call.
func (s *Service) Tell(ctx context.Context, process int, kind Kind, head, data []byte) error {
	if s.closed.Load() {
		return ErrClosed
	}
	if process == s.self {
		s.handlers[kind].f(&Question{s: s, From: s.self, Head: head, Data: data})
		return nil
	}
	addr, err := s.reach(ctx, process)
	if err != nil {
		return err
	}
	return s.send(ctx, addr, kind, 0, head, data)
}

// number returns the number of a question, which is not 0.
func (s *Service) number() uint32 {
	for {
		if n := s.next.Add(1); n != 0 {
			return n
		}
	}
}

// send sends a question or note, and waits until its memory is free.
func (s *Service) send(ctx context.Context, addr mx.EndpointAddr, kind Kind, number uint32, head, data []byte) error {
	c := calls.Get().(*call)
	binary.LittleEndian.PutUint32(c.id[:], uint32(s.self))
	c.segs = [3][]byte{c.id[:], head, data}
	r, err := s.ep.Isendv(c.segs[:], addr, uint64(kind)<<kindShift|uint64(number), nil)
	if err != nil {
		return err
	}
	st, err := s.await(ctx, r)
	if err != nil {
		return err // c stays with the send, which may not be over
	}
	c.segs = [3][]byte{}
	calls.Put(c)
	if st.Code != mx.StatusSuccess {
		return st.Code
	}
	return nil
}

// await waits for a request. If ctx ends, a receive is taken back.
func (s *Service) await(ctx context.Context, r mx.Request) (mx.Status, error) {
	if ctx.Done() == nil {
		for {
			st, done, err := s.ep.Wait(r, mx.Infinite)
			if done || err != nil {
				return st, err
			}
		}
	}
	st, err := s.ep.WaitContext(ctx, r)
	if err != nil && ctx.Err() != nil {
		_, _ = s.ep.Cancel(r)
		return st, ctx.Err()
	}
	if st.Code != mx.StatusSuccess {
		return st, nil
	}
	return st, err
}

// callSelf asks the own process.
func (s *Service) callSelf(ctx context.Context, kind Kind, head, data, answer []byte) (int, error) {
	c := calls.Get().(*call)
	s.handlers[kind].f(&Question{s: s, From: s.self, Head: head, Data: data, local: c})
	select {
	case <-c.done:
	case <-ctx.Done():
		return 0, ctx.Err() // c stays with the question, which may be answered yet
	case <-s.over:
		return 0, ErrClosed
	}
	defer calls.Put(c)
	if len(c.text) == 0 || len(c.text) > len(answer) {
		return 0, ErrRefused
	}
	return copy(answer, c.text), nil
}
