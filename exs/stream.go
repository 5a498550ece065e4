package exs

import (
	"slices"
	"sync"

	"gomx/exs/internal/stream"
	"gomx/mx"
)

// bytesOf is the state of a stream socket. The sending and the receiving machine decide where bytes go, and this package moves them.
type bytesOf struct {
	sender   stream.Sender
	receiver stream.Receiver
	buffer   []byte
	hand     []byte     // the message that has arrived
	fetching bool       // the message that is announced is being fetched
	posted   []*landing // receives at the endpoint
	spare    *landing
	pieces   [][]byte // scratch
	coming   uint64   // match information of the message that is announced
	fin      bool     // the peer has ended its side
}

// landing is a receive at the endpoint: for a message that was advertised, or for one
// that goes to the buffer.
type landing struct {
	s      *Socket
	of     *bytesOf // the state of the socket when it was posted; the socket has another one if it has given the connection up
	number uint32
	fetch  bool
	o      *op // the operation whose memory receives the data; nil: the buffer does
	req    mx.Request
	next   *landing
}

// smallestBuffer is the size of a stream's buffer before it grows.
const (
	smallestBuffer = 64 << 10

	// A message takes as much as travels with its data at once. Over TCP that saves system calls.
	smallestSegment, mostSegment = 1000, 64 << 10

	// Where a message takes less than shortSegment, holdMin is the length from which it pays to wait for an advertised
	// receive rather than to send to the buffer.
	shortSegment = 16 << 10
	holdMin      = 128 << 10
)

// segment is the largest message of a stream for the buffer. It has to travel with its
// data: what is left with the sender is fetched only when somebody waits.
func (s *Socket) segment() int {
	n, err := s.l.ep.Load().EagerTo(s.peer)
	if err != nil {
		return smallestSegment
	}
	return max(smallestSegment, min(n, mostSegment))
}

// prepare makes what the type of the socket needs for a connection to a peer that has
// said hello.
func (s *Socket) prepare(h *hello) {
	if s.typ != Stream {
		return
	}
	b, segment := new(bytesOf), s.segment()
	cfg := func(buffer int) stream.Config {
		c := stream.Config{
			BufferMax: buffer, BufferMin: min(buffer, smallestBuffer),
			Credits: min(s.options.credits, 1<<10), Segment: segment,
		}
		if segment < shortSegment {
			c.HoldMin = holdMin
		}
		if buffer == 0 {
			c.BufferMax, c.BufferMin = stream.NoBuffer, stream.NoBuffer
		}
		return c
	}
	if b.sender.Init(cfg(min(h.buffer, stream.LargestBuffer))) != nil || b.receiver.Init(cfg(min(s.options.buffer, stream.LargestBuffer))) != nil {
		panic("exs: the stream's machine refuses its configuration") // the values above are within its bounds
	}
	s.stream = b
}

// withoutBuffer reports whether this is a stream that holds nothing of what its peer sends ahead of a receive.
func (s *Socket) withoutBuffer() bool { return s.typ == Stream && s.options.buffer == 0 }

// buffers is the pool of smallest buffers.
var buffers = sync.Pool{New: func() any { return new([smallestBuffer]byte) }}

func (s *Socket) sendBytes(o *op) {
	if s.stream.sender.Send(stream.ID(o.id), o.size()) != nil {
		s.finish(o, EPIPE)
		return
	}
	s.drainSender()
}

func (s *Socket) receiveBytes(o *op) {
	var flags stream.Flags
	if o.flags&WaitAll != 0 {
		flags |= stream.WaitAll
	}
	if o.flags&Peek != 0 {
		flags |= stream.Peek
	}
	if s.life.AtEnd() || o.size() == 0 {
		s.finish(o, 0)
		return
	}
	if err := s.stream.receiver.Receive(stream.ID(o.id), o.size(), flags); err != nil {
		s.finish(o, ECONNRESET)
		return
	}
	s.drainReceiver()
}

// drainSender does what the sending machine asks for.
func (s *Socket) drainSender() {
	var a stream.Action
	for s.stream.sender.Next(&a) {
		switch a.Do {
		case stream.ToSend:
			s.sendPiece(&a)
		case stream.ToTell:
			s.tellStream(&a.Tell)
		case stream.ToFinish:
			s.finishBytes(&a)
		}
	}
}

// drainReceiver does what the receiving machine asks for.
func (s *Socket) drainReceiver() {
	b := s.stream
	var a stream.Action
	for b.receiver.Next(&a) {
		switch a.Do {
		case stream.ToPost:
			s.postPiece(&a)
		case stream.ToUnpost:
			s.unpostPiece(a.Number)
		case stream.ToPlace:
			scatterAt(s.ops[a.ID], a.Off, b.hand[a.From:a.From+a.N])
		case stream.ToStore:
			copy(b.buffer[a.At:a.At+a.N], b.hand[a.From:])
		case stream.ToFetch:
			s.fetchPiece(&a)
		case stream.ToCopy:
			scatterAt(s.ops[a.ID], a.Off, b.buffer[a.At:a.At+a.N])
		case stream.ToResize:
			b.resize(&a)
		case stream.ToTell:
			s.tellStream(&a.Tell)
		case stream.ToFinish:
			s.finishBytes(&a)
		}
	}
}

func (b *bytesOf) resize(a *stream.Action) {
	old := b.buffer
	switch {
	case a.N == 0:
		b.buffer = nil
	case a.N == smallestBuffer:
		b.buffer = buffers.Get().(*[smallestBuffer]byte)[:]
	default:
		b.buffer = make([]byte, a.N)
	}
	if a.Len > 0 {
		n := copy(b.buffer[:a.Len], old[a.At:])
		copy(b.buffer[n:a.Len], old)
	}
	if len(old) == smallestBuffer && len(b.posted) == 0 { // a posted receive may still write to it
		buffers.Put((*[smallestBuffer]byte)(old))
	}
}

// trim releases the buffer of a stream that has no more data to deliver. The lock is held.
func (s *Socket) trim() {
	if s.stream != nil && len(s.stream.posted) == 0 {
		s.stream.receiver.Trim()
		s.drainReceiver()
	}
}

func (s *Socket) tellStream(m *stream.Message) {
	if s.fate != 0 {
		return
	}
	var b [stream.MessageSize]byte
	m.Encode(&b)
	if m.Kind == stream.Fin {
		s.sendLast(ctlStream, b[:])
		return
	}
	_ = s.sendControl(ctlStream, b[:])
}

// finishBytes ends an operation. A cancelled operation holds the reason itself.
func (s *Socket) finishBytes(a *stream.Action) {
	o := s.ops[a.ID]
	o.length = a.N
	switch a.Status {
	case stream.OK:
		s.finish(o, 0)
	case stream.Cancelled:
		s.finish(o, o.errno)
	default:
		s.finish(o, s.fate)
	}
}

// scatterAt copies to the buffer of an operation, from an offset on.
func scatterAt(o *op, off int, data []byte) {
	if o.iov == nil {
		copy(o.buf[off:], data)
		return
	}
	for _, b := range o.iov {
		if off >= len(b) {
			off -= len(b)
			continue
		}
		data = data[copy(b[off:], data):]
		off = 0
		if len(data) == 0 {
			return
		}
	}
}

// cut is the list of pieces with bytes [off, off+n) of an operation.
func (b *bytesOf) cut(o *op, off, n int) [][]byte {
	b.pieces = b.pieces[:0]
	for _, p := range o.iov {
		if off >= len(p) {
			off -= len(p)
			continue
		}
		p = p[off:min(len(p), off+n)]
		off = 0
		if n -= len(p); len(p) > 0 {
			b.pieces = append(b.pieces, p)
		}
		if n == 0 {
			break
		}
	}
	return b.pieces
}

func streamKind(direct bool) uint64 {
	if direct {
		return kindDirect << kindShift
	}
	return kindIndirect << kindShift
}

func (s *Socket) sendPiece(a *stream.Action) {
	o := s.ops[a.ID]
	o.gone = a.Off + a.N
	match := streamKind(a.Direct) | s.out | uint64(a.Number)
	ep := s.l.ep.Load()
	var r mx.Request
	var err error
	switch {
	case o.iov == nil && ep.SendNow(o.buf[a.Off:a.Off+a.N], s.peer, match):
		s.stream.sender.Sent(a.ID) // the actions that follow end the operation
		return
	case o.iov == nil:
		r, err = s.l.post(ep.Isend(o.buf[a.Off:a.Off+a.N], s.peer, match, o))
	default:
		r, err = s.l.post(ep.Isendv(s.stream.cut(o, a.Off, a.N), s.peer, match, o))
	}
	if err != nil {
		s.tear(ENETDOWN)
		s.stream.sender.Sent(a.ID)
		return
	}
	o.under = append(o.under, r)
}

// streamed handles the completion of a message that was sent.
func (s *Socket) streamed(o *op, r mx.Request, st *mx.Status) {
	if i := slices.Index(o.under, r); i >= 0 {
		o.under = slices.Delete(o.under, i, i+1)
	}
	switch {
	case st.Code == mx.StatusSuccess, st.Code == mx.StatusTruncated && s.stops:
	case st.Code == mx.StatusTruncated: // discarded by the peer
		s.tear(ECONNRESET)
	default:
		s.lose(statusErrno(st.Code))
	}
	s.stream.sender.Sent(stream.ID(o.id))
	s.drainSender()
	s.l.letGo.Store(true)
}

func (s *Socket) landing(number uint32, fetch bool, o *op) *landing {
	b := s.stream
	l := b.spare
	if l == nil {
		l = &landing{s: s, of: b}
	} else {
		b.spare = l.next
	}
	l.number, l.fetch, l.o = number, fetch, o
	b.posted = append(b.posted, l)
	return l
}

// drop takes a receive off the list.
func (b *bytesOf) drop(l *landing) {
	for i := range b.posted {
		if b.posted[i] == l {
			last := len(b.posted) - 1
			copy(b.posted[i:], b.posted[i+1:])
			b.posted[last] = nil
			b.posted = b.posted[:last]
			break
		}
	}
	l.o = nil
	l.next, b.spare = b.spare, l
}

func (s *Socket) postPiece(a *stream.Action) {
	o, l := s.ops[a.ID], s.landing(a.Number, false, s.ops[a.ID])
	match := streamKind(true) | toward(s.conn, s.tag) | uint64(a.Number)
	ep := s.l.ep.Load()
	var err error
	if o.iov == nil {
		l.req, err = s.l.post(ep.Irecv(o.buf[a.Off:a.Off+a.N], match, exact, l))
	} else {
		l.req, err = s.l.post(ep.Irecvv(s.stream.cut(o, a.Off, a.N), match, exact, l))
	}
	if err != nil {
		s.stream.drop(l)
		s.tear(ENETDOWN)
	}
}

func (s *Socket) unpostPiece(number uint32) {
	b := s.stream
	for _, l := range b.posted {
		if l.fetch || l.number != number {
			continue
		}
		gone, _ := s.l.ep.Load().Cancel(l.req)
		if gone {
			b.drop(l)
		}
		s.breach(b.receiver.Unposted(number, gone))
		return
	}
	s.breach(b.receiver.Unposted(number, true)) // it could not be posted
}

func (s *Socket) fetchPiece(a *stream.Action) {
	b := s.stream
	l := s.landing(a.Number, true, nil)
	b.pieces = append(b.pieces[:0], b.buffer[a.At:a.At+a.N], b.buffer[:a.More])
	b.fetching = true
	var err error
	if l.req, err = s.l.post(s.l.ep.Load().Irecvv(b.pieces, b.coming, exact, l)); err != nil {
		b.drop(l)
		s.tear(ENETDOWN)
	}
}

// completed handles a message that has arrived.
func (l *landing) completed(st *mx.Status) {
	s := l.s
	s.mu.Lock()
	b, number, fetch := l.of, l.number, l.fetch
	b.drop(l)
	s.handedOver(st)
	if b != s.stream {
		s.mu.Unlock()
		return
	}
	switch {
	case st.Code != mx.StatusSuccess && fetch:
		s.lose(statusErrno(st.Code))
	case st.Code != mx.StatusSuccess: // there is a gap, in front of all data that has arrived for the buffer
		s.tear(statusErrno(st.Code))
	case st.Source != s.peer:
		s.l.counts.nonsense.Add(1)
		s.tear(ECONNRESET)
	}
	switch {
	case !fetch:
		s.breach(b.receiver.Landed(number, int(st.XferLength)))
	case st.Code != mx.StatusSuccess:
		b.receiver.Unfetched(number)
	default:
		s.breach(b.receiver.Fetched(number))
	}
	s.drainReceiver()
	s.settle()
	s.mu.Unlock()
}

// breach tears the connection down if the peer broke the protocol.
func (s *Socket) breach(err error) {
	if err != nil && s.fate == 0 {
		s.l.counts.nonsense.Add(1)
		s.reject(ECONNRESET)
	}
}

// bytesHere handles data for which no receive was posted.
func (s *Socket) bytesHere(match uint64, length uint32, data []byte) mx.UnexpAction {
	b := s.stream
	direct := kindOf(match) == kindDirect
	if data != nil {
		b.hand = data
		s.breach(b.receiver.Here(direct, uint32(match), int(length)))
		s.drainReceiver()
		b.hand = nil
		return mx.RecvFinished
	}
	b.coming, b.fetching = match, false
	s.breach(b.receiver.Coming(direct, uint32(match), int(length)))
	s.drainReceiver()
	if b.fetching {
		return mx.RecvContinue
	}
	return mx.RecvFinished
}

// handleStream handles a message of the peer's stream protocol.
func (s *Socket) handleStream(text []byte) {
	b := s.stream
	var m stream.Message
	err := stream.Decode(&m, text)
	switch {
	case err != nil:
	case m.Kind.ForSender():
		err = b.sender.Message(&m)
	default:
		b.fin = b.fin || m.Kind == stream.Fin
		err = b.receiver.Message(&m)
	}
	s.breach(err)
	s.drainSender()
	s.drainReceiver()
}

// stopStream handles that the peer accepts no more data.
func (s *Socket) stopStream() {
	for _, o := range s.ops {
		if o.live && o.sends() {
			o.errno = EPIPE
			s.stream.sender.Cancel(stream.ID(o.id))
		}
	}
	s.drainSender()
}

func (s *Socket) stopStreamReading() {
	s.stream.receiver.Shutdown()
	s.drainReceiver()
}

func (s *Socket) endStreamWriting() {
	s.stream.sender.Shutdown()
	s.drainSender()
}

func (s *Socket) tearStream() {
	s.stream.sender.Reset()
	s.stream.receiver.Reset()
	s.drainSender()
	s.drainReceiver()
}

// streamEnds reports whether the peer has ended its side.
func (s *Socket) streamEnds() bool { return s.stream.fin }

func (s *Socket) cancelBytes(o *op) bool {
	o.errno = ECANCELED
	if o.sends() && s.stream.sender.Cancel(stream.ID(o.id)) {
		s.drainSender()
		return true
	}
	if !o.receives() || !s.stream.receiver.Cancel(stream.ID(o.id)) {
		return false
	}
	s.drainReceiver()
	if !o.live {
		return true
	}
	s.stream.receiver.Stay(stream.ID(o.id)) // data is landing in it
	s.drainReceiver()
	return false
}
