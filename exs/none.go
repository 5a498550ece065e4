package exs

import "net"

// Calls on a handle that is nil, or zero because no call has made it, return an error that names the call that makes one.

const (
	noLibrary  = "there is no library; Open makes one"
	noSocket   = "there is no socket; NewSocket and Accept make one"
	noQueue    = "there is no queue; NewQueue makes one"
	noMemory   = "there is no registration; Register makes one"
	noListener = "there is no listener; Listen makes one"
	noConn     = "there is no connection; Dial and Accept make one"
)

func (l *Library) none() bool  { return l == nil || l.over == nil }
func (s *Socket) none() bool   { return s == nil || s.l == nil }
func (q *Queue) none() bool    { return q == nil || q.l == nil }
func (m *Memory) none() bool   { return m == nil || m.l == nil }
func (n *Listener) none() bool { return n == nil || n.s == nil }
func (c *Conn) none() bool     { return c == nil || c.s == nil }

// absent makes the error of a call on a nil or zero handle.
func absent(op string, n Errno, remedy string) error {
	return &Error{Op: op, Errno: n, Cause: tell(remedy)}
}

// absentNet is absent in the manner of package net.
func absentNet(op, remedy string) error {
	return &net.OpError{Op: op, Net: network, Err: tell(remedy, EINVAL)}
}
