// Package tcp joins endpoints of different hosts over TCP. Linux only; elsewhere
// the package is empty.
//
// An endpoint listens on one port, which is its claim on the endpoint id, on
// each address of its board. A pair of endpoints has one connection (or, for a
// moment, two, if both dial at once), made when it is first needed. Both sides
// identify themselves before any frame is accepted (hello.go), over TLS if that is
// on, and prove that they know the secret if there is one. The dials of a process
// take turns (turns.go), so that those of a crowd get done in time.
//
// Other transports use the same handshake. An endpoint has one Listener
// (listener.go) for each purpose that a connection can have, and an acceptor
// (acceptor.go) that accepts connections for all of them on one port. This
// transport's own purpose is Frames, and a port holds the Listener for it.
//
// The socket of a link is taken away from the Go poller: whoever polls the port
// reads and writes it with non-blocking system calls, and no other thread wakes
// for a packet. All sockets of a port are in one epoll descriptor, which the
// endpoint's doorbell watches, so that a sleeper wakes too.
//
// Frames have the byte form of package wire, one behind the other. What is sent
// between two polls leaves together (send.go); the payload of PullData frames
// goes from user memory into the socket and from the socket into user memory
// (retain.go, land.go).
//
// Read transport.go first. Then, for the handshake, listener.go, acceptor.go and handshake.go;
// for frames link.go, send.go and read.go.
package tcp
