package endpoint

import "gomx/transport/wire"

// Tick is the engine's time: milliseconds since an origin of the owner's choice.
type Tick uint64

// Never is a tick that does not come.
const Never Tick = 1<<64 - 1

// Limits of messages.
const (
	MaxSegments = 256       // segments of a gather or scatter list
	MaxMessage  = 1<<32 - 1 // bytes of a message

	// AlwaysEager is the size below which a message always travels with its
	// data, whatever the eager limit, because the unexpected handler is promised
	// the data of such messages (VII.1.4).
	AlwaysEager = 1024
)

// Config is what an engine is made with.
type Config struct {
	NIC      uint64 // own address
	Endpoint uint32
	Filter   uint32 // what connecting peers must know (II.3)
	Session  uint32 // random; another one for each incarnation of an endpoint; for the media

	// EagerLimit is the largest message sent eagerly, bytes. Negative: what the
	// medium advises. Messages below AlwaysEager are eager in any case, and a
	// medium's largest frame bounds it from above.
	EagerLimit int

	// CopyLimit is the largest message the endpoint takes eagerly from its
	// peers (II.5); they learn it when they connect. Negative: no limit.
	CopyLimit int

	// SelfOverLink sends the endpoint's messages to itself over a link.
	SelfOverLink bool

	// What all peers together may have under way to us, or stored here, beside a
	// reserve of each: bytes of messages that came whole, and headers of others.
	UnexpectedBytes   int // 0: DefaultUnexpectedBytes
	UnexpectedHeaders int // 0: DefaultUnexpectedHeaders
	UnexpectedReserve int // of each peer, bytes; 0: DefaultUnexpectedReserve

	RequestTimeout Tick // default timeout of new requests; 0: DefaultRequestTimeout

	// Strangers bounds the links of those who have dialled and have not become, or
	// shown to be, a peer yet. The oldest goes first. 0: DefaultStrangers.
	Strangers int
	// Backlog bounds the connection requests that wait for the owner's answer, and the refusals that are remembered.
	// 0: DefaultBacklog. AnswerTimeout is how long one waits. 0: DefaultAnswerTimeout.
	Backlog       int
	AnswerTimeout Tick
	// PieceBytes bounds the messages that are coming in pieces, of all peers together.
	// 0: DefaultPieceBytes.
	PieceBytes int

	// ContextBits and ContextShift say which bits of the match information are
	// a context id, which every receive's mask must cover. 0 bits: none.
	ContextBits, ContextShift uint8

	// Contexts says which of several contexts of an endpoint this is; zero: its only one.
	Contexts wire.Contexts

	// ClassShift has messages counted by class: the bits of the match information from there on. 0: all are of one class.
	ClassShift uint8
}

// Defaults of Config, and the engine's own times.
const (
	DefaultUnexpectedBytes        = 64 << 20
	DefaultUnexpectedHeaders      = 2 << 20
	DefaultUnexpectedReserve      = 16 << 10
	DefaultRequestTimeout    Tick = 1000 * 1000
	DefaultStrangers              = 1024
	DefaultPieceBytes             = 64 << 20

	ackDelay        Tick = 4  // an ack waits this long for a frame to ride on
	ackAtOnce            = 4  // frames that may stay without ack
	ackEarly             = 16 // early frames that one ack answers
	retransmitFirst Tick = 20 // first retransmission
	retransmitMost  Tick = 500
	pullRetry       Tick = 40 // blocks not here by then are asked for again
)

func (c *Config) contextMask() uint64 {
	return (1<<c.ContextBits - 1) << c.ContextShift
}

// Addr is a peer's address within one engine: its slot, and the session that
// was current when the address was made. Addresses of one peer and session are
// equal. The zero Addr is never valid, because no session is zero.
type Addr struct {
	Peer    int32
	Session uint32
}

// Host is what an engine asks of its owner. The calls are made from within the
// engine's own methods, and must not call back into it but where it says so.
type Host interface {
	// Dial asks for a link to a peer. LinkUp or LinkFailed answer, later. It is
	// not asked again before that.
	Dial(peer int32, nic uint64, endpoint uint32)

	// Adopted says that a link which was accepted is that of a peer from now on, and
	// known under the peer's number. It may have been that of a stranger.
	Adopted(peer int32, link wire.Link)

	// Random returns a random number that nobody can guess.
	Random() uint64

	// Tick returns what time it is. Advance may not have been called for long
	// while nothing was due; who begins to wait must not begin in the past.
	Tick() Tick

	// Unexpected runs the user's handler. The owner may release its lock for
	// the time, and operations (Send, Recv, Iconnect, Cancel, Forget, Test,
	// Disconnect, queries and switches) may be called meanwhile; Frame, Flush,
	// Advance, LinkUp, LinkFailed, LinkDown, PullFinished and Goodbye may not.
	Unexpected(m *Incoming) Action

	// Drop gives up a link that sent nonsense or is not needed. No LinkDown is
	// expected for it, and none does harm.
	Drop(peer int32, link wire.Link, corrupt bool)
}

// Incoming is an unexpected message shown to the handler.
type Incoming struct {
	Source Addr
	Match  uint64
	Length uint32
	Data   []byte // the message, if it is here; valid until the handler returns
}

// Action is the handler's answer (VII.1.4).
type Action uint8

// The answers.
const (
	Continue Action = 0 // match it with what is posted by now, or keep it
	Finished Action = 1 // drop it
)

// Status is the outcome of a request, or what a probe saw.
type Status struct {
	Code       Code
	Source     Addr // sends: the destination
	Match      uint64
	MsgLength  uint32 // bytes that were sent
	XferLength uint32 // bytes that were transferred
	Context    any
}

// Assign copies a status field by field. A copy in one piece has to wait until the fields, which were stored one by one a moment ago, have
// left the store buffer. Of neighbours the compiler makes one piece again, unless something else comes between them.
func (st *Status) Assign(from *Status) {
	st.MsgLength = from.MsgLength
	st.Source.Session = from.Source.Session
	st.XferLength = from.XferLength
	st.Code = from.Code
	st.Match = from.Match
	st.Source.Peer = from.Source.Peer
	st.Context = from.Context
}
