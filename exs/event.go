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
	EvtRead    // the peer has read from our persistent send
	EvtWritten // the peer has written to our persistent receive
)

var eventNames = [...]string{
	"none", "accept", "connect", "close", "shutdown", "send", "recv", "sendmsg", "recvmsg", "sendfile", "read", "written",
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
	Socket  *Socket   // the socket of the call
	AHandle any       // the handle that was passed to the call
	Type    EventType // the kind of call

	// Of EvtAccept.
	NewSocket *Socket        // the new connection
	Addr      netip.AddrPort // of the peer

	// Of transfers.
	Buffer     []byte  // as it was given, nil with several pieces; or where the packet lies, if InPlace
	Memory     *Memory // as it was given
	AmountLost int     // bytes of a packet that found no room in the buffer
	Length     int     // bytes transferred
	Offset     int     // of SendOffset and RecvOffset, EvtRead and EvtWritten: the place in the persistent memory
	InPlace    bool    // Buffer belongs to the library, until RecycleRcvBuffer

	notice notice
}
