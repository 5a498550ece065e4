package sim

import (
	"encoding/binary"
	"fmt"

	"gomx/endpoint"
)

// Some programs have those wait who connect to them, and accept or reject them, at once or in a later turn. Each connect has a number of its
// own as data, which comes back with the answer. None of this draws random numbers.

// admissions is what a program knows of those who connect to it, and of its own connects.
type admissions struct {
	calls   uint64 // connects of this life
	seen    uint64 // requests taken
	later   []endpoint.Visitor
	refused uint64              // of them
	settled map[callName]uint64 // those that were answered; of a refusal, its number
}

// accepted is the answer to a connect that the session remembers.
const accepted = ^uint64(0)

// callName names a connect.
type callName struct {
	from, life int
	number     uint64
}

const callBytes = 17

// bytes is the data of a connect, and with a verdict that of its answer.
func (c callName) bytes(verdict byte) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(c.from))
	b = binary.LittleEndian.AppendUint32(b, uint32(c.life))
	return append(binary.LittleEndian.AppendUint64(b, c.number), verdict)
}

func callOf(b []byte) (c callName, verdict byte, ok bool) {
	if len(b) != callBytes {
		return c, 0, false
	}
	le := binary.LittleEndian
	return callName{int(le.Uint32(b)), int(le.Uint32(b[4:])), le.Uint64(b[8:])}, b[16], true
}

const (
	asking    = byte(0)
	accepting = byte(1)
	rejecting = byte(2)
)

// passive reports whether a program decides who connects to it.
func (n *node) passive() bool { return n.index < n.w.plan.Passive }

// beginAdmissions begins a life.
func (n *node) beginAdmissions() {
	n.admissions = admissions{settled: map[callName]uint64{}}
	if n.passive() {
		n.engine.Listen()
		if n.index%2 == 1 { // its requests may be as many as strangers
			n.engine.ExpectCrowd()
		}
	}
}

// callPeer starts a connect.
func (n *node) callPeer(o *op, filter uint32) {
	c := &endpoint.Calling{NIC: nicOf(o.peer), Filter: filter, Match: connectMatch, Context: o}
	if n.w.plan.Passive > 0 {
		n.admissions.calls++
		c.Data, c.Answer = callName{n.index, n.life, n.admissions.calls}.bytes(asking), o.answer[:]
	}
	o.handle = n.engine.Call(c)
}

// answered checks what a peer's program has answered to a connect that has ended.
func (n *node) answered(o *op, st *endpoint.Status) error {
	rejected := st.Code == endpoint.Rejected
	if st.MsgLength == 0 && !rejected || st.Code != endpoint.Success && !rejected {
		return nil
	}
	c, verdict, ok := callOf(o.answer[:min(int(st.XferLength), callBytes)])
	switch {
	case !ok || st.MsgLength != callBytes || c.from != n.index || c.life != n.life || c.number == 0 || c.number > n.admissions.calls:
		return fmt.Errorf("connect %d to %d is answered with %v", n.admissions.calls, o.peer, c)
	case rejected != (verdict == rejecting) || !rejected && verdict != accepting:
		return fmt.Errorf("a connect to %d ends with %v, and was answered with %d", o.peer, st.Code, verdict)
	}
	return nil
}

// answerVisitors answers those who wait to be let in. Some wait a turn longer.
func (n *node) answerVisitors() {
	if !n.passive() {
		return
	}
	late := n.admissions.later
	n.admissions.later = nil
	for _, v := range late {
		n.decide(v)
	}
	for v, ok := n.engine.TakeVisitor(); ok; v, ok = n.engine.TakeVisitor() {
		n.admissions.seen++
		c, verdict, ok := callOf(v.Data)
		switch {
		case !ok || verdict != asking || nicOf(c.from) != v.NIC:
			n.w.fail(n, "a request of %x comes with %v", v.NIC, v.Data)
			return
		case n.remembers(c) && !n.w.mayFail(n.index, c.from):
			n.w.fail(n, "connect %v is asked about again", c)
			return
		}
		if mix(n.w.plan.Seed^n.admissions.seen)%3 == 0 {
			n.admissions.later = append(n.admissions.later, v)
		} else {
			n.decide(v)
		}
	}
}

// remembers reports whether the engine knows the answer to a connect: of refusals, those to as many as may wait.
func (n *node) remembers(c callName) bool {
	answer, was := n.admissions.settled[c]
	room := n.w.plan.Engine.Backlog
	return was && (answer == accepted || room == 0 || n.admissions.refused-answer < uint64(room))
}

// decide answers one of them, who may be gone.
func (n *node) decide(v endpoint.Visitor) {
	c, _, _ := callOf(v.Data)
	if draw := mix(n.w.plan.Seed<<8 ^ c.number<<4 ^ uint64(n.index)); !n.w.draining && int(draw%100) < n.w.plan.Rejects {
		if n.engine.Refuse(v.Handle, c.bytes(rejecting)) == nil {
			n.admissions.refused++
			n.admissions.settled[c] = n.admissions.refused
			n.w.report.Rejected++
		}
		return
	}
	addr, code, err := n.engine.Accept(v.Handle, c.bytes(accepting))
	switch {
	case err != nil || code != endpoint.Success: // there is no session all the same, as the program is told: the peer asks again
		return
	case addr.Session == 0:
		n.w.fail(n, "a request was accepted without a session")
	}
	n.admissions.settled[c] = accepted
	n.w.report.Admitted++
}
