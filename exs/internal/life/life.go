// Package life is what a socket may do when: its states, the calls, and the error
// of a call that comes at the wrong time. It has no input, output, time and
// concurrency.
package life

import "gomx/exs/internal/errno"

// State is where a socket stands.
type State uint8

// The states.
const (
	Fresh State = iota
	Bound
	Listening
	Connecting
	Connected
	Lost   // the peer is gone; what it sent can still be received
	Reset  // the connection was torn down
	Closed // the handle is no longer valid
	states
)

// Call is what a user asks of a socket.
type Call uint8

// The calls.
const (
	Bind Call = iota
	Listen
	Accept
	Connect
	Send
	Recv
	Shutdown
	SockName
	PeerName
	Tune // an option that is negotiated when the connection is made
	Look // an option that can be asked for at any time
	Close
	calls
)

// allowed has the error of each call in each state.
var allowed = [calls][states]errno.Errno{
	Bind:     {Bound: errno.EINVAL, Listening: errno.EINVAL, Connecting: errno.EINVAL, Connected: errno.EINVAL, Lost: errno.EINVAL, Reset: errno.EINVAL, Closed: errno.EBADF},
	Listen:   {Fresh: errno.EDESTADDRREQ, Connecting: errno.EINVAL, Connected: errno.EINVAL, Lost: errno.EINVAL, Reset: errno.EINVAL, Closed: errno.EBADF},
	Accept:   {Fresh: errno.EINVAL, Bound: errno.EINVAL, Connecting: errno.EINVAL, Connected: errno.EINVAL, Lost: errno.EINVAL, Reset: errno.EINVAL, Closed: errno.EBADF},
	Connect:  {Listening: errno.EOPNOTSUPP, Connecting: errno.EALREADY, Connected: errno.EISCONN, Lost: errno.EISCONN, Reset: errno.EISCONN, Closed: errno.EBADF},
	Send:     transfer(errno.ECONNRESET),
	Recv:     transfer(0),
	Shutdown: transfer(errno.ECONNRESET),
	SockName: {Closed: errno.EBADF},
	PeerName: {Fresh: errno.ENOTCONN, Bound: errno.ENOTCONN, Listening: errno.ENOTCONN, Connecting: errno.ENOTCONN, Closed: errno.EBADF},
	Tune:     {Connecting: errno.EISCONN, Connected: errno.EISCONN, Lost: errno.EISCONN, Reset: errno.EISCONN, Closed: errno.EBADF},
	Look:     {Closed: errno.EBADF},
	Close:    {Closed: errno.EBADF},
}

// transfer has the errors of a call that needs a connection.
func transfer(lost errno.Errno) [states]errno.Errno {
	return [states]errno.Errno{
		Fresh: errno.ENOTCONN, Bound: errno.ENOTCONN, Listening: errno.ENOTCONN, Connecting: errno.ENOTCONN,
		Lost: lost, Reset: errno.ECONNRESET, Closed: errno.EBADF,
	}
}

// half is one direction of a connection.
type half uint8

const (
	open    half = iota
	closing      // a shutdown is under way
	shut
)

// How names directions of a connection.
type How uint8

// The directions; they can be added up.
const (
	Reading How = 1 << iota
	Writing
)

// Machine is the state of one socket. The zero Machine is a fresh socket.
type Machine struct {
	state State
	back  State // where a connect that fails leads back to
	halves
}

type halves struct{ reading, writing half }

// State returns where the socket stands.
func (m *Machine) State() State { return m.state }

// May returns why the call is refused, or 0. Send and Recv look at the directions
// besides: see CanSend and AtEnd.
func (m *Machine) May(c Call) errno.Errno { return allowed[c][m.state] }

// CanSend returns why nothing can be sent, or 0.
func (m *Machine) CanSend() errno.Errno {
	if m.state != Connected {
		return m.May(Send)
	}
	if m.writing != open {
		return errno.EPIPE
	}
	return 0
}

// AtEnd reports whether receives end at once with nothing, since the direction was
// shut down on this side.
func (m *Machine) AtEnd() bool { return m.reading != open }

// Bind notes that the socket has an address.
func (m *Machine) Bind() { m.state = Bound }

// Listen notes that the socket listens.
func (m *Machine) Listen() { m.state = Listening }

// Connect notes that a connect has begun.
func (m *Machine) Connect() { m.back, m.state = m.state, Connecting }

// Connected notes how a connect ended. One that failed may be tried again. A socket
// that was closed meanwhile stays so.
func (m *Machine) Connected(ok bool) {
	switch {
	case m.state != Connecting:
	case ok:
		m.state = Connected
	default:
		*m = Machine{state: m.back}
	}
}

// Accepted makes a fresh socket a connected one.
func (m *Machine) Accepted() { m.state = Connected }

// Shutdown begins to shut directions down. It returns those that were open, or
// EBUSY if a shutdown of one of them is under way.
func (m *Machine) Shutdown(how How) (open How, err errno.Errno) {
	if err := m.May(Shutdown); err != 0 {
		return 0, err
	}
	if how == 0 || how&^(Reading|Writing) != 0 {
		return 0, errno.EINVAL
	}
	for _, h := range []How{Reading, Writing} {
		if how&h != 0 && *m.half(h) == closing {
			return 0, errno.EBUSY
		}
	}
	for _, h := range []How{Reading, Writing} {
		if p := m.half(h); how&h != 0 && *p != shut {
			*p = closing
			open |= h
		}
	}
	return open, 0
}

// Shut notes that directions are shut down, by us or by the peer.
func (m *Machine) Shut(how How) {
	for _, h := range []How{Reading, Writing} {
		if how&h != 0 {
			*m.half(h) = shut
		}
	}
}

func (m *Machine) half(h How) *half {
	if h == Reading {
		return &m.reading
	}
	return &m.writing
}

// Lose notes that the peer of a connection is gone.
func (m *Machine) Lose() {
	if m.state == Connected {
		m.state = Lost
	}
}

// Break notes that the connection was torn down.
func (m *Machine) Break() {
	if m.state == Connected || m.state == Lost {
		m.state = Reset
	}
}

// Close ends the life of the handle, and returns the state before.
func (m *Machine) Close() State {
	was := m.state
	m.state = Closed
	return was
}
