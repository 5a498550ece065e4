// Package exs is Extended Sockets: sockets whose transfers are asynchronous, report
// to event queues, and go straight from the memory of one process into that of
// another. It follows UNH EXS 1.4.1; docs/exs.md has the table of its functions and
// the deviations.
//
// # Use
//
// Dial and Listen give a net.Conn and a net.Listener, and stand where those of package net would; Dialer and ListenConfig
// have the options. The network "exs" is a stream (Conn), "exspacket" keeps messages apart (SeqPacketConn):
//
//	ln, err := exs.Listen("exs", ":5000")
//	c, err := exs.Dial("exs", "server.example.com:5000")
//
// Sockets have the functions of EXS, and those of a Conn are Conn.Socket:
//
//	exs.Init(exs.Version1)
//	s, err := exs.NewSocket(exs.Inet, exs.SeqPacket, 0)
//	err = s.BlockingConnect(addr)
//	q, err := exs.NewQueue(16)
//	_, err = s.Send(buf, 0, q, nil, exs.Unregistered)
//	n, err := q.Dequeue(events, exs.Infinite)
//
// Every operation has two phases. The call starts it, or refuses it with an error.
// What has started ends with an event on the queue that the call named; until
// then its buffer belongs to the library. With the flag Block a call does both phases.
//
// # How it works
//
// A Library has one mx endpoint, which all of its sockets share. The handshake of two
// sockets runs over a TCP connection to the listener's address, which is closed afterwards
// (hello.go; pending.go has the inbound handshakes). Data travels as matched messages
// (bits.go). A packet is one message, from the sender's memory into the receiver's
// (packet.go, line.go). The bytes of a stream go directly into a receive that is posted, or
// through a buffer if none is (stream.go, internal/stream). The extensions of the papers are
// in special.go and the files that it names. Everything else travels in small control
// messages (control.go). The endpoint's handler of unexpected messages takes them, so that
// they need no caller inside the library.
//
// Calls that wait make progress (wait.go). They block in the endpoint, at a waiter of their operation, queue or socket. All
// requests of a library complete into one completion queue. The endpoint runs the handler of that queue, and the handler of
// unexpected messages, in the goroutine that polls: a waiting one, or the endpoint's own. The handlers advance the
// operations, and wake the goroutines that wait for operations that have ended.
//
// # Errors
//
// Errors are of type *Error and match their number: errors.Is(err, exs.EBUSY) and
// errors.Is(err, syscall.EBUSY) are the same. Those of Dial, Listen and what they return are of type *net.OpError, and
// match it too. The text says in one line what happened and what helps (told.go). Events carry the bare number.
//
// # Concurrency
//
// All functions may be called from any goroutine.
//
// # Compatibility
//
// The exported names of this package follow semantic versioning: from v1.0.0 on, a program that compiles and works with one
// version does so with every later one of the same major version. Before that, CHANGELOG.md lists what changes.
package exs
