// Package endpoint is the protocol engine of one endpoint: requests, matching,
// sessions, the eager and rendezvous protocols, and reliability over media that
// lose and reorder.
//
// The engine is pure. Its inputs are operations (Send, Recv, Cancel, ...), frames
// (Frame), links that came or went (LinkUp, LinkDown) and the current tick
// (Advance). Its outputs are frames handed to links, calls on its Host, and
// requests that became complete. It has no clock, no goroutine and no lock: the
// owner (package driver, or a test) calls it from one goroutine at a time.
//
// Payload is copied once, inside Frame, from the medium to the user's segments.
//
// The files are cut by kind of message:
//
//	send.go eager.go rndv_send.go      from Send to the completion of the sender
//	recv.go arrive.go rndv_recv.go     from Recv or a frame to the completion of the receiver
//	tied.go claim.go                   receives that end with a session, or of a claimed message
//	pipeline.go                        pipelined rendezvous, for media without a get
//	window.go access.go put.go get.go  one-sided operations: windows, both sides of puts and gets
//	link.go connect.go disconnect.go   links and sessions
//	reliable.go early.go retransmit.go sequence numbers, acks, retransmission
//	heal.go pieces.go                  sessions that outlive their links
//	flow.go                            back-pressure
//	self.go                            messages to oneself
//	request.go complete.go query.go cancel.go timeout.go   the life of requests
//	counters.go dump.go pending.go     what an endpoint tells about itself
//
// Slices given to Send and Recv belong to the engine until the request is
// complete (sends: buffered). Read engine.go next.
//
// This package is a part of gomx and no interface of it: it may change in any version. Programs use mx, exs and mpi.
package endpoint
