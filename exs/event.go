package exs

import "net/netip"

// EventType says what an event is about.
type EventType uint8

// The types of events.
const (
	EvtAccept EventType = iota + 1
	EvtConnect
	EvtClose
	EvtShutdown
	EvtSend
	EvtRecv
	EvtSendMsg
	EvtRecvMsg
	EvtSendFile
)

var eventNames = [...]string{
	"none", "accept", "connect", "close", "shutdown", "send", "recv", "sendmsg", "recvmsg", "sendfile",
}

// String returns the name of the operation.
func (t EventType) String() string {
	if int(t) < len(eventNames) {
		return eventNames[t]
	}
	return "unknown"
}

// Event says how an operation ended (2.1.3).
type Event struct {
	Errno   Errno     // 0 if it succeeded
	Socket  *Socket   // that the call was made on
	AHandle any       // that the call was made with
	Type    EventType // which call it was

	// Of EvtAccept.
	NewSocket *Socket        // the new connection
	Addr      netip.AddrPort // of the peer

	// Of transfers.
	Buffer     []byte  // as it was given; nil with several pieces
	Memory     *Memory // as it was given
	AmountLost int     // bytes of a packet that found no room in the buffer
	Length     int     // bytes transferred
}
