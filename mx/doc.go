// Package mx sends and receives matched messages between processes, with the
// interface of Myrinet Express (MX) 1.2. Roman numerals in the documentation are
// sections of its manual; docs/manual.md goes through them, with what differs and why.
//
// # Use
//
// A program initializes the library, opens an endpoint, connects to its peers,
// posts sends and receives, and collects them:
//
//	mx.Init()
//	ep, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter)
//	nic, err := mx.HostnameToNICID("localhost")
//	peer, err := ep.Connect(nic, 3, filter, 10*time.Second)
//	r, err := ep.Isend(buf, peer, 42, nil)
//	st, done, err := ep.Wait(r, mx.Infinite)
//
// Peers are on this host, which shared memory reaches, or on others, which RDMA
// does where both sides have cards for it, and TCP everywhere; an endpoint uses what
// there is unless it is told otherwise, and Peers says which.
//
// A message carries 64 bits of match information. A receive names a value and a
// mask; a message belongs to it if, masked, it has that value. Messages from one
// endpoint to another are matched in the order they were sent. A message that no
// receive waits for is kept, within a bound, until one comes.
//
// # The life of a message
//
// A small message travels with its data: Isend copies it into a ring in shared
// memory, or towards a socket, and is complete. The receiver's Wait, polling, finds the oldest receive
// that fits and copies the data into its buffer. Of a large message only the
// header travels; when it matches, the receiver fetches the data, straight out of
// the sender's buffer or by blocks, and a short note completes the sender. A synchronous send
// (Issend) is completed by such a note whatever its size.
//
// Progress happens in whatever call is being made, and in the background when
// none is.
//
// # Windows
//
// A program may open a window on its memory (OpenWindow) and tell peers its handle.
// They then write and read it with Iput and Iget, whose requests are collected like
// all others, and write a few bytes with Put, which has no request. The
// program that owns the window does nothing for it, and learns no more of it than how often
// it was used (Window.Poll); messages are for the rest. The library checks what peers do
// at the side of the window.
//
// # Beyond MX
//
// SendNow sends a small message without a request, if that can be done at once. Watch
// is a request that ends with the session with a peer. A Waiter is where a goroutine waits
// for what a handler or another goroutine wakes it for, while the endpoint makes progress. A Queue collects requests in
// batches, or has a handler for them. IrecvFrom is a receive that
// ends with the session with a peer, RecvNow one without a request if the message
// comes at once, and ExchangeNow is SendNow and RecvNow in one. WaitFirst waits for the first
// of several requests.
// Pending lists those that are not complete, for people.
// Claim takes a message that has arrived out of matching, and IrecvMessage receives it
// later: what a program with several goroutines needs in the place of a probe.
//
// # What it does not do
//
// No byte order or type conversion, no fragmentation by the user, no collective
// operations: those belong to what is built on top.
//
// # Memory
//
// A buffer belongs to the library from the call that posts it until the request
// is complete (a send's until it is buffered). Buffers may be on the Go heap. Those
// of Alloc make large sends to this host faster; over RDMA they, and those that were
// registered with Register, make large messages of either direction faster.
//
// # Concurrency
//
// All functions may be called from any goroutine, except that one request may be
// waited for or tested by one goroutine at a time, and that an endpoint opened
// with SingleThreaded takes calls from one goroutine at a time, but for those named there.
//
// # Errors
//
// A call returns an error if it could not be carried out: an *Error that names
// the operation and the peer, and works with errors.Is and the codes of the
// manual. How a request ended is its Status, which is no error: a receive that
// was cut still has been received. The environment variables are listed by
// Environment, and by mx_info -env.
//
// # Compatibility
//
// The exported names of this package follow semantic versioning: from v1.0.0 on, a program that compiles and works with one
// version does so with every later one of the same major version. Before that, CHANGELOG.md lists what changes.
//
// Read the examples next, then endpoint.go.
package mx
