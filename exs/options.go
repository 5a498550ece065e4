package exs

import (
	"fmt"
	"math"
	"net/netip"

	"gomx/exs/internal/life"
)

// options are what Fcntl sets.
type options struct {
	credits int
	small   int
	inline  int
	cpu     int
	fd      int
	buffer  int
}

var defaults = options{credits: DefaultCredits, inline: -1, cpu: NotPinned, buffer: DefaultStreamBuf}

// Fcntl sets or gets an option (7), and returns its old or present value. What is
// negotiated
// is the agreed value once there is a connection, and the value to propose before. Errors: EINVAL for a command or argument that makes no sense,
// EISCONN for an option that is fixed once the connection is made, EOPNOTSUPP for small
// packets on a stream, EBADF.
func (s *Socket) Fcntl(cmd Command, arg int) (int, error) {
	call := life.Look
	switch cmd {
	case SetFlowControlCredits, SetSPMaxSize, SetInlineMaxSize, SetStreamBufSize:
		call = life.Tune
	case SetFD:
		if arg&FDBusyPoll != 0 {
			call = life.Tune
		}
	}
	if cmd < SetFlowControlCredits || cmd > GetStreamBufSize {
		call = life.Look
	}
	if n := s.lockFor(call); n != 0 {
		return -1, s.fail("fcntl", n)
	}
	defer s.mu.Unlock()
	value, n := s.option(cmd)
	if n == 0 && cmd%2 == 0 && !acceptable(cmd, arg) {
		n = EINVAL
	}
	switch {
	case n == EINVAL:
		return -1, s.naming(wrong("fcntl", "%s", unacceptable(cmd, arg)))
	case n != 0:
		return -1, s.naming(fail("fcntl", n))
	}
	old := *value
	if cmd%2 == 0 {
		*value = arg
	}
	if cmd == SetStreamBufSize && arg > 0 {
		*value = max(arg, LeastStreamBuf) // whenever the buffer is full the sender waits a round trip
	}
	if cmd == SetStreamBufSize && arg == 0 {
		s.options.fd |= FDNoDelay
	}
	if old < 0 { // the program has not set the inline size
		return s.l.inline(), nil
	}
	return old, nil
}

func (s *Socket) option(cmd Command) (*int, Errno) {
	o := &s.options
	switch cmd {
	case SetFlowControlCredits, GetFlowControlCredits:
		return &o.credits, 0
	case SetSPMaxSize, GetSPMaxSize:
		if s.typ == Stream {
			return nil, EOPNOTSUPP
		}
		return &o.small, 0
	case SetInlineMaxSize, GetInlineMaxSize:
		return &o.inline, 0
	case SetCompThreadCPU, GetCompThreadCPU:
		return &o.cpu, 0
	case SetFD, GetFD:
		return &o.fd, 0
	case SetStreamBufSize, GetStreamBufSize:
		return &o.buffer, 0
	}
	return nil, EINVAL
}

// settings are what the commands set, by half their number, and what they take.
var settings = [...]struct {
	name        string
	least, most int
}{
	{"SetFlowControlCredits", 1, MaxCredits},
	{"SetSPMaxSize", 0, MaxSmallPacket},
	{"SetInlineMaxSize", 0, math.MaxInt},
	{"SetCompThreadCPU", 0, math.MaxInt},
	{"SetFD", 0, FDBusyPoll | FDNoDelay},
	{"SetStreamBufSize", 0, MaxStreamBuf},
}

func acceptable(cmd Command, arg int) bool {
	set := &settings[cmd/2]
	return arg >= set.least && arg <= set.most
}

// unacceptable says what is wrong with a command or its argument.
func unacceptable(cmd Command, arg int) string {
	if cmd < 0 || int(cmd/2) >= len(settings) {
		return fmt.Sprintf("there is no command %d", cmd)
	}
	set := &settings[cmd/2]
	if set.most == math.MaxInt {
		return fmt.Sprintf("%s takes %d and more, not %d", set.name, set.least, arg)
	}
	return fmt.Sprintf("%s takes %d to %d, not %d", set.name, set.least, set.most, arg)
}

// agree adopts the smaller of both proposals.
func (o *options) agree(credits, small int) {
	o.credits = max(1, min(o.credits, credits))
	o.small = max(0, min(o.small, small))
}

// tune sets the options of a Dialer or ListenConfig.
func (s *Socket) tune(network string, a netip.AddrPort, buffer int, busy bool, control func(network, address string, s *Socket) error) (err error) {
	if busy {
		_, err = s.Fcntl(SetFD, FDBusyPoll)
	}
	switch {
	case err != nil:
		return err
	case buffer > MaxStreamBuf:
		return &Error{Op: "fcntl", Errno: EINVAL, Cause: tell(fmt.Sprintf("StreamBuffer is %d, and at most %d", buffer, MaxStreamBuf))}
	case buffer != 0:
		_, err = s.Fcntl(SetStreamBufSize, max(buffer, 0))
	}
	if err == nil && control != nil {
		err = control(network, a.String(), s)
	}
	return err
}
