package exs

import (
	"math"
	"time"

	"gomx/exs/internal/errno"
	"gomx/exs/internal/life"
	"gomx/mx"
)

// Version1 is the version of the interface that Init wants. Version is the release of
// UNH EXS that the interface follows.
const (
	Version1 = 1
	Version  = "1.4.1"
)

// Infinite as a timeout means for ever; a timeout of 0 polls once.
const Infinite = mx.Infinite

// Domains and types of sockets, and their only protocol besides 0.
const (
	Inet  = errno.Inet  // IPv4
	Inet6 = errno.Inet6 // IPv6

	Stream    = 1 // bytes in order
	SeqPacket = 5 // packets in order

	ProtoTCP = 6
)

// Flags modify a call.
type Flags uint32

// The flags.
const (
	Block       Flags = 1 << iota // wait for the end; there is no event
	CreditWait                    // send, recv: wait for a credit rather than fail with EBUSY
	Unsignaled                    // send, recv, sendfile: no event for a success; none at all without a queue
	DontWait                      // ignored
	WaitAll                       // recv on a stream: wait until the buffer is full
	Peek                          // recv: leave the data there
	DontLinger                    // close: tear the connection down at once
	RecvDisable                   // register: memory to send from only
	CancelAll                     // cancel: whatever the handle
	InPlace                       // recv: leave a small packet where the library has it; see RecycleRcvBuffer
	Persistent                    // send, recv: let the peer read, or write, the memory again and again
	Notify                        // with Persistent: an event each time the peer has done so
)

// How is a direction of a connection.
type How = life.How

// The directions of Shutdown.
const (
	ShutRD   = life.Reading
	ShutWR   = life.Writing
	ShutRDWR = life.Reading | life.Writing
)

// Command is what Fcntl does. There is a Get for every Set.
type Command int

// The commands, with what the argument and the result are.
const (
	SetFlowControlCredits Command = iota // operations of each direction that may be outstanding, from 1 on; negotiated
	GetFlowControlCredits
	SetSPMaxSize // largest small packet, bytes; negotiated. Packets only. Those from memory that is not registered are copied by the call
	GetSPMaxSize
	SetInlineMaxSize // largest send that is copied into the line of its header, bytes
	GetInlineMaxSize
	SetCompThreadCPU // the CPU to complete on, or NotPinned
	GetCompThreadCPU
	SetFD // FDBusyPoll, which an established connection refuses, and FDNoDelay
	GetFD
	SetStreamBufSize // largest intermediate buffer of a stream on this side, bytes, LeastStreamBuf if it is less; 0: none
	GetStreamBufSize
)

// The bits of SetFD.
const (
	FDBusyPoll = 1 << iota // calls of the connection that block don't sleep while they wait: see Dialer.BusyPoll
	FDNoDelay              // kept and told; there is no delay to take away. A stream buffer of 0 sets it
)

// NotPinned is the CPU of a completion thread that may run anywhere.
const NotPinned = math.MaxInt32

// Defaults and limits of the options.
const (
	DefaultCredits   = 32
	MaxCredits       = 1 << 20
	MaxSmallPacket   = 64 << 10
	DefaultStreamBuf = 1 << 20
	LeastStreamBuf   = 4 << 10
	MaxStreamBuf     = min(3<<30, math.MaxInt)
)

// setupTime bounds the conversation of two sockets that get to know each other.
const setupTime = 10 * time.Second
