package endpointtest

import (
	"fmt"

	"gomx/transport/wire"
)

// Frame is a frame on its way.
type Frame struct {
	Header wire.Header
	Data   []byte
}

// String prints what matters of a frame of its kind.
func (f *Frame) String() string {
	h := &f.Header
	s := h.Kind.String()
	switch h.Kind {
	case wire.Eager, wire.Rendezvous, wire.Credit:
		s += fmt.Sprintf(" match=%#x", h.Match)
	case wire.Connect, wire.ConnectReply:
		c, err := wire.ParseConnect(f.Data)
		if err != nil {
			return s + " malformed"
		}
		if data, _ := wire.ConnectData(f.Data); len(data) > 0 {
			s += fmt.Sprintf(" %q", data)
		}
		if h.Kind == wire.Connect {
			return s + fmt.Sprintf(" offer=%#x known=%#x connected=%d", c.Session, h.Session, h.Match)
		}
		return s + fmt.Sprintf(" offer=%#x to=%#x status=%d", c.Session, h.Session, c.Status)
	case wire.Nack, wire.Bye:
		return s + fmt.Sprintf(" session=%#x", h.Session)
	}
	if h.Kind.Sequenced() {
		s += fmt.Sprintf(" seq=%#x", h.Seq)
	}
	switch {
	case h.Kind == wire.Notify:
		s += fmt.Sprintf(" took=%d disposition=%d", h.Total, h.Offset)
	case h.Kind == wire.Rendezvous:
		s += fmt.Sprintf(" total=%d", h.Total)
	case h.Kind == wire.Atomic:
		a, _ := wire.ParseAtomic(h.Total)
		s += fmt.Sprintf(" offset=%d %v of %v", h.Offset, a.Op, a.Type)
		if a.Fetch {
			s += " fetch"
		}
	case h.Flags&wire.HasRange != 0:
		s += fmt.Sprintf(" offset=%d total=%d", h.Offset, h.Total)
	}
	switch {
	case h.Flags&wire.Sync != 0:
		s += " sync"
	case h.Kind == wire.Eager && h.Flags&wire.HasID != 0:
		s += " acked"
	}
	if h.Flags&wire.HasAck != 0 {
		s += fmt.Sprintf(" ack=%#x", h.Ack)
	}
	return s + fmt.Sprintf(" len=%d", len(f.Data))
}

// Lane is one direction of a link. Its queue is the test's to change.
type Lane struct {
	Queue    []*Frame
	Capacity int  // frames it holds before Send says "again"; 0: any number
	Lost     bool // Send takes frames and loses them

	spare []*Frame
}

func (l *Lane) put(h *wire.Header, v *wire.Vec, off int) bool {
	if l.Capacity > 0 && len(l.Queue) >= l.Capacity {
		return false
	}
	if l.Lost {
		return true
	}
	f := l.take()
	f.Header = *h
	if int(h.Length) > cap(f.Data) {
		f.Data = make([]byte, h.Length)
	}
	f.Data = f.Data[:h.Length]
	if h.Length > 0 {
		if n := v.Gather(f.Data, off); n != len(f.Data) {
			panic("endpointtest: a frame is longer than its payload")
		}
	}
	f.Header.DropAbsent()
	l.Queue = append(l.Queue, f)
	return true
}

func (l *Lane) take() *Frame {
	if n := len(l.spare); n > 0 {
		f := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return f
	}
	return new(Frame)
}

// Remove takes frame i out of the queue.
func (l *Lane) Remove(i int) {
	f := l.Queue[i]
	copy(l.Queue[i:], l.Queue[i+1:])
	l.Queue = l.Queue[:len(l.Queue)-1]
	for j := range f.Data {
		f.Data[j] = 0xdd // whoever kept a reference shall notice
	}
	l.spare = append(l.spare, f)
}

// Duplicate puts a copy of frame i behind it.
func (l *Lane) Duplicate(i int) {
	f := l.Queue[i]
	c := &Frame{f.Header, append([]byte(nil), f.Data...)}
	l.Queue = append(l.Queue[:i+1], append([]*Frame{c}, l.Queue[i+1:]...)...)
}

// Move takes frame i to place j.
func (l *Lane) Move(i, j int) {
	f := l.Queue[i]
	rest := append(append([]*Frame{}, l.Queue[:i]...), l.Queue[i+1:]...)
	l.Queue = append(append(append([]*Frame{}, rest[:j]...), f), rest[j:]...)
}

// Link joins two nodes.
type Link struct {
	ends [2]End
	Dead bool
}

// End is one side of a link, and what that side's engine knows of it.
type End struct {
	link *Link
	node *Node
	peer int32 // the other side's number in node's engine
	far  *End
	In   Lane // frames that come to this side
	caps wire.Caps
	up   bool // the node's engine knows of it
	told bool // and that it is dead

	Pulls    PullMode
	number   uint64   // of ends: memory descriptors say whose they are
	exported []export // by token
	live     int
	started  []startedPull
}

// Caps implements wire.Link.
func (e *End) Caps() *wire.Caps { return &e.caps }

// Send implements wire.Link.
func (e *End) Send(h *wire.Header, v *wire.Vec, off int) bool {
	if int(h.Length) > e.caps.MaxFrame {
		panic("endpointtest: a frame exceeds the link's largest")
	}
	if e.link.Dead {
		return true
	}
	if !e.far.In.put(h, v, off) {
		return false
	}
	e.node.world.sent++
	return true
}

// Reclaim implements wire.Link.
func (e *End) Reclaim() {}
