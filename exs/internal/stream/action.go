package stream

// ID is the caller's name for a user's operation. No two of one machine that are not
// finished may have the same.
type ID uint64

// Verb says what to do.
type Verb uint8

// The verbs. The first two are a Sender's, ToTell and ToFinish both machines', the
// others a Receiver's.
const (
	// ToSend: send bytes [Off, Off+N) of send ID as one message, Direct or not, with
	// Number in the match information. Call Sent when the bytes have left.
	ToSend Verb = iota
	// ToTell: send the control message Tell.
	ToTell
	// ToFinish: operation ID is over with N bytes, Status says how.
	ToFinish
	// ToPost: post a receive for the direct message Number into bytes [Off, Off+N) of
	// receive ID. Call Landed when it is complete.
	ToPost
	// ToUnpost: take back the posted receive Number, and call Unposted.
	ToUnpost
	// ToPlace: copy bytes [From, From+N) of the message in hand to receive ID, from
	// Off on.
	ToPlace
	// ToStore: copy bytes [From, From+N) of the message in hand to the buffer, from At
	// on.
	ToStore
	// ToFetch: post a receive for the announced message into bytes [At, At+N) of the
	// buffer and, behind these, [0, More). Call Fetched with Number when it is complete.
	ToFetch
	// ToCopy: copy bytes [At, At+N) of the buffer to receive ID, from Off on.
	ToCopy
	// ToResize: make a new buffer of N bytes, none for 0, that begins with the Len
	// bytes of the old one from At on, wrapping at its end.
	ToResize
)

// Status says how an operation ended.
type Status uint8

// The ends of operations.
const (
	// OK: a send has left its memory; a receive has what it asked for. A receive
	// with room and without bytes is the end of the stream.
	OK Status = iota
	// Cancelled: by the user. What had gone or come before still counts.
	Cancelled
	// Aborted: by Reset.
	Aborted
)

// Action is one thing to do. Which fields count, the verb says.
type Action struct {
	Do     Verb
	Direct bool
	Status Status
	Number uint32
	ID     ID
	Off    int // in the user's memory
	At     int // in the buffer
	From   int // in the message
	N      int
	More   int
	Len    int
	Tell   Message
}

// script is the list of actions that the caller has not taken yet.
type script struct{ queue[Action] }

// add queues an action, whose other fields are to be filled in.
func (s *script) add(do Verb) *Action {
	a := s.push()
	*a = Action{Do: do}
	return a
}

func (s *script) tell(m Message) { s.add(ToTell).Tell = m }

func (s *script) finish(id ID, n int, how Status) {
	a := s.add(ToFinish)
	a.ID, a.N, a.Status = id, n, how
}

// next takes the oldest action.
func (s *script) next(a *Action) bool {
	if s.len() == 0 {
		return false
	}
	*a = *s.front()
	s.pop()
	return true
}
