// Package socket measures a bare TCP connection: what is left when nobody
// matches, frames, orders or sleeps. Its figures are the floor under everything
// that goes over TCP.
//
// Two processes, each bound to a core, exchange bytes over a loopback connection
// with Nagle's algorithm off. They ask the kernel again and again without ever
// sleeping, and they know beforehand how many bytes come next. A message of no
// bytes is one byte here, since TCP has no empty messages. With a window, all of
// its messages leave in one write: as little as a stream of messages can cost.
//
// The measuring process is the program itself, started once more with Variable in
// its environment; that one starts the other side. Both do the same exchanges in
// the same order, and so need no words between them.
//
// options.go reads what to measure, lead.go and follow.go are the two sides,
// course.go is what both do, and system_linux.go talks to the kernel.
package socket
