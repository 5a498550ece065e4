package exs

import "gomx/mx"

// The match information of a message, from the highest bit down:
//
//	1   set: what completes with it belongs to this package
//	3   kind
//	18  number of the receiver's socket
//	10  tag that the receiver's socket was given: another one for the number's next owner, and
//	    for the next connect after one that failed
//	32  of packets: 16 for the packet's number, 16 for how many the sender has taken;
//	    of streams: the number of the message
//
// docs/exs.md says the same in words.
const (
	ours                = 1 << 63
	kindShift           = 60
	connShift, connBits = 42, 18
	tagShift, tagBits   = 32, 10
	seqShift, seqBits   = 16, 16
	lowBits             = 32

	maxSockets = 1 << connBits
	seqMask    = 1<<seqBits - 1
	lowMask    = 1<<lowBits - 1

	// forSocket is the mask of a receive that takes any message of a kind to a socket.
	forSocket = ^uint64(lowMask)
	exact     = mx.MatchMaskNone
)

// The kinds of messages.
const (
	kindPacket   uint64 = ours>>kindShift + iota // a packet of a SeqPacket socket
	kindIndirect                                 // bytes of a stream for its buffer
	kindDirect                                   // bytes of a stream for a receive that was advertised
	kindControl                                  // see control.go
)

// kindAccess does not travel: it is what operations on persistent memory complete with.
const kindAccess uint64 = 1<<(64-kindShift) - 1

// nameOf joins the number and the tag of a socket into one value.
func nameOf(conn, tag uint32) uint32 { return conn<<tagBits | tag }

// toward is the match information of messages to a socket, without the kind.
func toward(conn, tag uint32) uint64 {
	return uint64(conn)<<connShift | uint64(tag)<<tagShift
}

func kindOf(match uint64) uint64 { return match >> kindShift }
func connOf(match uint64) uint32 { return uint32(match>>connShift) & (1<<connBits - 1) }
func tagOf(match uint64) uint32  { return uint32(match>>tagShift) & (1<<tagBits - 1) }
func seqOf(match uint64) uint32  { return uint32(match>>seqShift) & seqMask }
func ackOf(match uint64) uint32  { return uint32(match) & seqMask }

// since returns how far a counter, of which only the low bits are known, has advanced from an older value.
func since(low, counter uint32) uint32 { return (low - counter) & seqMask }
