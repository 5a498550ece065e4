package wire

// Version is the version of the frames and of the connect payload. Peers of
// different versions refuse each other when they connect.
const Version = 6

// Kind says what a frame is. The numbers are fixed by docs/wire.md.
type Kind uint8

// The kinds of frames.
const (
	Eager        Kind = 1  // a whole message
	Rendezvous   Kind = 2  // the header of a message and where its bytes lie
	Notify       Kind = 3  // receiver to sender: matched, or the bytes were taken
	PullRequest  Kind = 4  // receiver to sender: send me this block
	PullData     Kind = 5  // sender to receiver: a piece of a block
	Ack          Kind = 6  // everything before this sequence number has arrived
	Nack         Kind = 7  // refused: the session is not the one you think
	Connect      Kind = 8  // may I talk to you?
	ConnectReply Kind = 9  // yes, or why not
	Bye          Kind = 10 // the endpoint closes, or disconnects from you
	Credit       Kind = 11 // so much more may you send
	Resume       Kind = 12 // over a new link: go on with this session, from here
	Put          Kind = 13 // bytes for a window of the receiver
	PutOffer     Kind = 14 // where the bytes for a window of the receiver lie
	Get          Kind = 15 // send me bytes of a window of yours
	GetData      Kind = 16 // the bytes that were asked for
	GetOffer     Kind = 17 // where the bytes that were asked for lie
	Atomic       Kind = 18 // combine this with a window of yours
	AtomicData   Kind = 19 // what was there before
	kindEnd      Kind = 20
)

var kindNames = [kindEnd]string{
	Eager: "eager", Rendezvous: "rendezvous", Notify: "notify", PullRequest: "pull-request",
	PullData: "pull-data", Ack: "ack", Nack: "nack", Connect: "connect",
	ConnectReply: "connect-reply", Bye: "bye", Credit: "credit", Resume: "resume",
	Put: "put", PutOffer: "put-offer", Get: "get", GetData: "get-data", GetOffer: "get-offer",
	Atomic: "atomic", AtomicData: "atomic-data",
}

// String returns the kind's name in docs/wire.md.
func (k Kind) String() string {
	if k < kindEnd && kindNames[k] != "" {
		return kindNames[k]
	}
	return "kind?"
}

// Valid reports whether k is one of the kinds above.
func (k Kind) Valid() bool { return k > 0 && k < kindEnd }

// Sequenced reports whether frames of this kind take a sequence number, so that
// they are delivered exactly once and in order over any medium.
func (k Kind) Sequenced() bool {
	return k >= Eager && k <= Notify || k >= Put && k <= AtomicData || k == Credit
}

// Offers reports whether the payload of frames of this kind is a memory descriptor of
// memory, which holds for one link only.
func (k Kind) Offers() bool { return k == Rendezvous || k == PutOffer || k == GetOffer }

// Flags say which extensions follow the base header and how a frame is meant.
type Flags uint8

// The flags.
const (
	HasID    Flags = 1 << 0 // 8 bytes: a request of the sender or the receiver; of an eager message: the sender waits for an answer
	HasRange Flags = 1 << 1 // 4 + 4 bytes: total length and offset
	HasAck   Flags = 1 << 2 // 4 + 4 bytes: cumulative acknowledgement
	Sync     Flags = 1 << 3 // the sender waits for the match, and not just for the arrival
	AsHeader Flags = 1 << 4 // an eager message that is paid for with credit for headers

	extensions       = HasID | HasRange | HasAck
	flagsEnd   Flags = 1 << 5
)

// Dispositions: what a Notify frame says in Offset about the message, the put, the
// get or the atomic. Total says how many bytes were taken.
const (
	Taken        = 0 // all of it, or as much as is asked for, is in place
	Truncated    = 1 // matched by a receive that is too short
	Discarded    = 2 // the unexpected handler wanted none of it
	Failed       = 3 // the bytes could not be fetched
	NoWindow     = 4 // there is no such window, or it has been closed
	OutOfRange   = 5 // it reaches beyond the window
	NotPermitted = 6 // the window does not permit it
	Unfit        = 7 // no such atomic operation, or its operands or its place don't fit
)

// Sizes of headers in bytes.
const (
	BaseSize      = 24
	ExtensionSize = 8
	MaxHeader     = BaseSize + 3*ExtensionSize
)

var extensionBytes = [8]uint8{0, 8, 8, 16, 8, 16, 16, 24}

// Header is the header of a frame, decoded.
//
//	 0      1       2        4        8         16     20        24
//	+------+-------+--------+--------+---------+------+---------+
//	| kind | flags | medium | length |  match  | seq  | session |   base, 24 bytes
//	+------+-------+--------+--------+---------+------+---------+
//	|              id                |                              HasID
//	| total          | offset        |                              HasRange
//	| ack            | 0             |                              HasAck
//
// All fields are little-endian. The two bytes called medium belong to the medium
// (shared memory keeps its generation there) and are zero elsewhere.
type Header struct {
	Kind    Kind
	Flags   Flags
	Length  uint32 // bytes of payload in this frame
	Match   uint64 // match information, or an argument of the kind
	Seq     uint32 // sequence number of sequenced kinds
	Session uint32 // session of the receiving side
	ID      uint64 // with HasID
	Total   uint32 // with HasRange
	Offset  uint32 // with HasRange
	Ack     uint32 // with HasAck: the next sequence number expected
}

// Size returns the bytes that the header takes in its byte form.
func (h *Header) Size() int { return BaseSize + int(extensionBytes[h.Flags&extensions]) }

// DropAbsent zeroes the fields whose flags say that they do not travel, so that h is
// what its byte form would carry.
func (h *Header) DropAbsent() {
	if h.Flags&HasID == 0 {
		h.ID = 0
	}
	if h.Flags&HasRange == 0 {
		h.Total, h.Offset = 0, 0
	}
	if h.Flags&HasAck == 0 {
		h.Ack = 0
	}
}
