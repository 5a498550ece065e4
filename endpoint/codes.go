package endpoint

// Code is the status of a request: how it ended. It is a value, never an
// allocated error. The numbers are those of MX's headers (VI.2.1).
type Code uint8

// The status codes of the manual (VI.2.1).
const (
	Success             Code = 0
	Pending             Code = 1  // not complete; never the status of a completed request
	Buffered            Code = 2  // not complete, but the send's data has left the buffer
	Rejected            Code = 3  // the program at the peer refused the connect
	TimedOut            Code = 4  // the request's timeout passed
	Truncated           Code = 5  // the receive was shorter than the message
	Cancelled           Code = 6  // cancelled before it matched
	EndpointUnknown     Code = 7  // no way to that endpoint is known
	EndpointClosed      Code = 8  // the peer closed its endpoint, or disconnected from us
	EndpointUnreachable Code = 9  // the connection broke, or we disconnected from the peer
	BadSession          Code = 10 // the peer is another incarnation, or was never connected
	BadKey              Code = 11 // connect with a wrong filter
	BadEndpoint         Code = 12 // the endpoint id is out of range at the peer
	BadRDMAWindow       Code = 13 // the peer has no such window, or has closed it
	Aborted             Code = 14 // ended by the peer, or because what it waited for was closed
	NoResources         Code = 16 // out of memory or of another resource
	BadRDMARange        Code = 17 // it reaches beyond the window; not a code of MX
	RDMANotPermitted    Code = 18 // the window does not permit it; not a code of MX
	BadAtomic           Code = 19 // the peer has no such atomic operation, or can't do it there; not a code of MX

	// Of connects, and no codes of MX either.
	NotAnswered  Code = 20 // the program at the peer did not answer
	BacklogFull  Code = 21 // too many others wait for its answer
	NotListening Code = 22 // it takes no connection requests any more

	lastCode = NotListening
)

var codeTexts = [...]string{
	Success:             "success",
	Pending:             "still pending",
	Buffered:            "buffered, still pending",
	Rejected:            "refused by the program at the peer",
	TimedOut:            "timed out",
	Truncated:           "truncated: the receive was shorter than the message",
	Cancelled:           "cancelled",
	EndpointUnknown:     "destination endpoint is unknown",
	EndpointClosed:      "remote endpoint is closed or has disconnected",
	EndpointUnreachable: "remote endpoint is unreachable",
	BadSession:          "bad session: the peer was reopened or never connected",
	BadKey:              "connection refused: wrong filter",
	BadEndpoint:         "endpoint id is out of range at the peer",
	BadRDMAWindow:       "bad RDMA window: unknown at the peer, or closed",
	Aborted:             "aborted by the peer, or because what it waited for was closed",
	15:                  "event queue full",
	NoResources:         "out of resources",
	BadRDMARange:        "outside of the RDMA window",
	RDMANotPermitted:    "not permitted by the RDMA window",
	BadAtomic:           "the peer has no such atomic operation, or the offset in its RDMA window is not aligned for it",
	NotAnswered:         "the program at the peer has not answered the connection request in time",
	BacklogFull:         "too many connection requests wait for the program at the peer",
	NotListening:        "the peer takes no connection requests",
}

// String returns the text of a code, also of ones this version does not know.
func (c Code) String() string {
	if int(c) < len(codeTexts) {
		return codeTexts[c]
	}
	return "unknown status code"
}

// Errno is the outcome of a call that could not be carried out. It is an error
// and compares with errors.Is. The numbers are those of MX's headers.
type Errno uint8

// The codes that the engine itself returns.
const (
	ErrBadRequest     Errno = 13 // stale, foreign or null handle, or the wrong kind of request
	ErrBadSegCount    Errno = 12 // more than 256 segments
	ErrBadSegMem      Errno = 11 // message of 4 GiB or more
	ErrBadMask        Errno = 14 // match bits outside the mask
	ErrBadAddress     Errno = 16 // null or foreign endpoint address
	ErrCancelSend     Errno = 40 // cancel of a send
	ErrBadContextMask Errno = 42 // a receive's mask leaves out context id bits
	ErrNoResources    Errno = 15 // out of slots
	ErrBadParam       Errno = 26 // an atomic whose operation, type, operands and place don't fit each other
)

var errnoTexts = map[Errno]string{
	ErrBadRequest:     "bad request: stale, foreign or of the wrong kind",
	ErrBadSegCount:    "bad segment count: at most 256 are allowed",
	ErrBadSegMem:      "bad segment: messages and windows are shorter than 4 GiB",
	ErrBadMask:        "match bits outside the match mask",
	ErrBadAddress:     "bad endpoint address: null, or of another endpoint",
	ErrCancelSend:     "sends can't be cancelled",
	ErrBadContextMask: "match mask must cover the context id bits",
	ErrNoResources:    "out of resources",
	ErrBadParam:       "parameter value out of range: the operation, type, operands and offset of an atomic don't fit each other",
}

// Error returns the text of the code.
func (e Errno) Error() string {
	if text, ok := errnoTexts[e]; ok {
		return text
	}
	return "unknown error code"
}
