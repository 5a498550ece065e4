package exs

import (
	"encoding/binary"
	"sync"

	"gomx/exs/internal/life"
	"gomx/exs/internal/stream"
	"gomx/mx"
)

// The kinds of control messages: the first byte. The payload follows.
const (
	ctlOpen    byte = iota + 1 // the nonce: the client's first message to the server's socket
	ctlAck                     // 4 bytes: how many packets the sender has taken
	ctlFin                     // 4 bytes: how many packets were sent in all; none follows
	ctlStop                    // the sender accepts no more data
	ctlReset                   // the connection is torn down
	ctlStream                  // a message of the stream's protocol
	ctlExport                  // 14 bytes: memory of the sender's that is persistent
	ctlHide                    // 1 byte: that memory is no longer persistent
	ctlUsed                    // 9 bytes: what the sender has done with persistent memory
	ctlSeen                    // 5 bytes: how many of these uses the sender's program has taken note of
	ctlLeft                    // 1 byte: the sender knows that the memory is not persistent any more
	ctlConnect                 // 92 bytes: a client asks the listener for a direct connection
	ctlReply                   // 72 bytes: the reply to ctlConnect
	ctlFed                     // 4 bytes: how many packets the sender has received or written to persistent memory
)

// note is a control message that is being sent.
type note struct {
	b [max(1+stream.MessageSize, connectSize)]byte
}

// notes is the pool of notes.
var notes = sync.Pool{New: func() any { return new(note) }}

func (n *note) completed(*mx.Status) { notes.Put(n) }

// sendControl sends the peer a control message. The lock is held.
func (s *Socket) sendControl(what byte, text []byte) error {
	n := notes.Get().(*note)
	n.b[0] = what
	return s.postNote(n, 1+copy(n.b[1:], text))
}

func (s *Socket) sendNumber(what byte, number uint32) {
	n := notes.Get().(*note)
	n.b[0] = what
	binary.LittleEndian.PutUint32(n.b[1:], number)
	_ = s.postNote(n, 5)
}

// postNote sends the peer a note. Errors are ignored: the lifeline reports a peer that has failed.
func (s *Socket) postNote(n *note, length int) error {
	return s.l.postNote(n, length, s.peer, s.out)
}

func (l *Library) postNote(n *note, length int, to mx.EndpointAddr, out uint64) error {
	ep, match := l.ep.Load(), kindControl<<kindShift|out
	if ep.SendNow(n.b[:length], to, match) {
		notes.Put(n)
		return nil
	}
	_, err := l.post(ep.Isend(n.b[:length], to, match, n))
	return err
}

// unexpected is the progress callback for unexpected messages. The endpoint calls it in the
// goroutine that makes progress, for one message at a time.
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
		l.answerFor(source, match, data)
		return mx.RecvFinished
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.released || tagOf(match) != s.tag {
		l.answerFor(source, match, data)
		return mx.RecvFinished
	}
	if kindOf(match) == kindControl {
		s.receiveControl(source, data)
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
	if action == mx.RecvContinue {
		s.inHand = match
	}
	s.settle()
	return action
}

// receiveControl handles a control message of the peer.
func (s *Socket) receiveControl(source mx.EndpointAddr, b []byte) {
	switch {
	case len(b) == 17 && b[0] == ctlOpen:
		s.opened(source, nonce(b[1:]))
	case len(b) == connectSize && b[0] == ctlConnect:
		s.answer(source, b[1:])
	case len(b) == replySize && b[0] == ctlReply:
		s.replied(source, b[1:])
	case s.peer != source || s.peer.IsZero():
		s.l.counts.nonsense.Add(1)
	case len(b) == 5 && b[0] == ctlAck && s.stream == nil:
		s.acknowledge(binary.LittleEndian.Uint32(b[1:]))
	case len(b) == 5 && b[0] == ctlFin && s.stream == nil:
		s.packetsEnd(binary.LittleEndian.Uint32(b[1:]))
	case len(b) == 5 && b[0] == ctlFed && s.stream == nil && s.fed(binary.LittleEndian.Uint32(b[1:])):
	case len(b) == 1 && b[0] == ctlStop:
		s.stopped()
	case s.stream == nil && len(b) > 1 && b[0] >= ctlExport && s.handleSpecial(b[0], b[1:]):
	case len(b) == 1 && b[0] == ctlReset:
		s.tear(ECONNRESET)
	case len(b) == 1+stream.MessageSize && b[0] == ctlStream && s.stream != nil:
		s.handleStream(b[1:])
	default:
		s.l.counts.nonsense.Add(1)
		s.tear(ECONNRESET)
	}
}

// opened handles the client's first message, which has the nonce.
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

// stopped handles ctlStop: the peer accepts no more data. Data that it has not accepted are lost.
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

// tear ends a connection that the peer has torn down, or that we tear down ourselves: all outstanding operations end with n,
// and data that has arrived is discarded.
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
