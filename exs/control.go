package exs

import (
	"encoding/binary"
	"sync"

	"gomx/exs/internal/life"
	"gomx/exs/internal/stream"
	"gomx/mx"
)

// The control messages: one byte that says which, then what it says.
const (
	ctlOpen   byte = iota + 1 // the nonce: the client's first message to the server's socket
	ctlAck                    // 4 bytes: how many packets the sender has taken
	ctlFin                    // 4 bytes: how many packets there are in all; none will follow
	ctlStop                   // the sender takes nothing any more
	ctlReset                  // the connection is torn down
	ctlStream                 // a message of the stream's protocol
	ctlExport                 // 14 bytes: memory of the sender's that is persistent
	ctlHide                   // 1 byte: and is not any more
	ctlUsed                   // 9 bytes: what the sender has done with persistent memory
	ctlSeen                   // 5 bytes: how many of those the sender's program has taken
	ctlLeft                   // 1 byte: the sender knows that the memory is not persistent any more
)

// note is a control message on its way.
type note struct {
	b [1 + stream.MessageSize]byte
}

// notes keeps those that can be used again.
var notes = sync.Pool{New: func() any { return new(note) }}

func (n *note) completed(*mx.Status) { notes.Put(n) }

// say sends the peer a control message. The lock is held.
func (s *Socket) say(what byte, text []byte) error {
	n := notes.Get().(*note)
	n.b[0] = what
	return s.tell(n, 1+copy(n.b[1:], text))
}

func (s *Socket) sayNumber(what byte, number uint32) {
	n := notes.Get().(*note)
	n.b[0] = what
	binary.LittleEndian.PutUint32(n.b[1:], number)
	_ = s.tell(n, 5)
}

// tell sends a note. What is wrong with the peer, the lifeline tells.
func (s *Socket) tell(n *note, length int) error {
	ep, match := s.l.ep.Load(), kindControl<<kindShift|s.out
	if ep.SendNow(n.b[:length], s.peer, match) {
		notes.Put(n)
		return nil
	}
	_, err := s.l.post(ep.Isend(n.b[:length], s.peer, match, n))
	return err
}

// unexpected takes the messages that no receive was posted for. It is called by
// whichever goroutine makes progress on the endpoint, one message at a time.
func (l *Library) unexpected(_ any, source mx.EndpointAddr, match uint64, length uint32, data []byte) mx.UnexpAction {
	switch kindOf(match) {
	case kindPacket, kindIndirect, kindDirect, kindControl:
	default:
		l.counts.nonsense.Add(1)
		return mx.RecvFinished
	}
	s := l.socketOf(match)
	if s == nil {
		l.counts.late.Add(1)
		return mx.RecvFinished
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.released || tagOf(match) != s.tag {
		return mx.RecvFinished
	}
	if kindOf(match) == kindControl {
		s.hear(source, data)
		s.settle()
		return mx.RecvFinished
	}
	if source != s.peer {
		l.counts.nonsense.Add(1)
		return mx.RecvFinished
	}
	var action mx.UnexpAction
	if s.stream != nil {
		action = s.bytesHere(match, length, data)
	} else {
		action = s.packetHere(match, length, data)
	}
	s.settle()
	return action
}

// hear takes a control message.
func (s *Socket) hear(source mx.EndpointAddr, b []byte) {
	switch {
	case len(b) == 17 && b[0] == ctlOpen:
		s.opened(source, nonce(b[1:]))
	case s.peer != source || s.peer.IsZero():
		s.l.counts.nonsense.Add(1)
	case len(b) == 5 && b[0] == ctlAck && s.stream == nil:
		s.acknowledge(binary.LittleEndian.Uint32(b[1:]))
	case len(b) == 5 && b[0] == ctlFin && s.stream == nil:
		s.packetsEnd(binary.LittleEndian.Uint32(b[1:]))
	case len(b) == 1 && b[0] == ctlStop:
		s.stopped()
	case s.stream == nil && len(b) > 1 && b[0] >= ctlExport && s.hearSpecial(b[0], b[1:]):
	case len(b) == 1 && b[0] == ctlReset:
		s.tear(ECONNRESET)
	case len(b) == 1+stream.MessageSize && b[0] == ctlStream && s.stream != nil:
		s.streamHear(b[1:])
	default:
		s.l.counts.nonsense.Add(1)
		s.tear(ECONNRESET)
	}
}

// opened takes the client's first message.
func (s *Socket) opened(source mx.EndpointAddr, n nonce) {
	j := s.joining
	if j == nil || j.pending == nil || !s.peer.IsZero() || n != j.nonce {
		s.l.counts.nonsense.Add(1)
		return
	}
	s.peer = source
	s.prepare(j.theirs)
	s.joining = nil
	s.life.Connected(true)
	s.arm()
	j.pending.remove()
	j.identified.Store(true)
	j.waiter.Wake()
}

// stopped: the peer takes nothing any more. What it did not take is lost.
func (s *Socket) stopped() {
	s.life.Shut(life.Writing)
	s.stops = true
	s.endFiles(EPIPE)
	if s.stream != nil {
		s.stopStream()
		return
	}
	for s.packets.waiting.len() > 0 {
		s.finish(s.packets.waiting.pop(), EPIPE)
	}
	s.endAccess(toWrite, EPIPE)
	s.conceal(toRead, EPIPE)
}

// tear ends a connection that the peer has torn down, or that we tear down ourselves: everything outstanding ends with n,
// and what has arrived is thrown away.
func (s *Socket) tear(n Errno) {
	if s.torn {
		return
	}
	s.torn = true
	if s.fate == 0 {
		s.fate = n
	}
	s.life.Break()
	s.endFiles(s.fate)
	if s.stream != nil {
		s.tearStream()
	} else {
		s.tearPackets(s.fate)
	}
	s.list.wake()
}
