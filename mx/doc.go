// Package mx sends and receives matched messages between processes, with the interface of Myrinet Express (MX) 1.2. Roman
// numerals in the documentation are sections of its manual. docs/manual.md lists them, with the differences and the reasons.
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
// An endpoint reaches peers on its own host over shared memory, and peers on other hosts over RDMA, if both hosts have RDMA
// devices, or over TCP. It uses the best transport that is available, unless it is configured otherwise; Peers says which.
//
// A message carries 64 bits of match information. A receive has a value and a mask, and matches a message if the message's
// match information, masked, equals the value. Messages from one endpoint to another are matched in the order in which they
// were sent. A message that no receive matches yet is unexpected: it is buffered, up to a limit, until a receive is posted.
//
// # The life of a message
//
// A small message is sent eagerly, header and data together: Isend copies it into a ring in shared memory, or to a socket, and
// is complete. The receiver polls in Wait, finds the oldest receive that matches, and copies the data into its buffer. A
// large message is sent by rendezvous: only its header is sent at first. When it matches, the receiver gets the data, by one
// copy from the sender's buffer or in blocks, and a short frame completes the send. Such a frame also completes a synchronous
// send (Issend) of any size.
//
// Calls make progress, and a goroutine of the endpoint does while there are none.
//
// # Windows
//
// A program may open a window on its memory (OpenWindow) and send the handle to peers. They then write and read the memory with
// Iput and Iget, whose requests are completed with Wait or Test like any request, or write a few bytes with Put, which has
// no request. The owner of the window makes no calls for that, and learns only how often the window was used (Window.Poll).
// The library checks accesses of peers at the owner's side.
//
// # Beyond MX
//
// SendNow sends a small message without a request, if that is possible at once. Watch is a request that completes when the
// session with a peer ends. On a Waiter a goroutine waits until a handler or another goroutine wakes it, while the endpoint
// makes progress. A Queue is a completion queue: it collects requests in batches, or calls a handler for them.
// A CompletionCounter counts sends, receives and other requests as they complete, and puts of peers, so that nobody collects them. IrecvFrom is a
// receive that also ends with the session with a peer. RecvNow is a receive that needs no request if the message arrives at
// once. IrecvMulti receives many messages into one buffer. WaitFirst waits for the first of several requests. Pending lists the
// requests that are not complete, for diagnostics. Claim removes a message that has arrived from matching, and IrecvMessage
// receives it later: programs with several goroutines need this instead of a probe. Providers says which transports meet a
// program's wishes. WithContexts opens an endpoint with several contexts, for goroutines that should not share a lock.
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
