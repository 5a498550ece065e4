package mem

import (
	"fmt"
	"sync"
	"sync/atomic"

	"gomx/transport/wire"
)

// lane carries frames one way, from the link that writes it to the one that
// reads it. All methods may be called concurrently.
type lane struct {
	reader   *Port
	cut      *atomic.Bool
	reliable bool
	heals    bool
	poison   bool

	mu     sync.Mutex
	queue  []*frame // a ring; its length is the depth of the lane
	head   int      // of the oldest frame
	count  int      // frames queued
	spare  []*frame // used frames with their buffers, the warmest last
	faults *dice    // nil if there are none

	// news: frames or an end may be there for the reader. It is set with mu held, and cleared so by a look that finds nothing, so that
	// a reader of many lanes passes over those that are idle without their locks.
	news atomic.Bool

	wanted atomic.Bool // the writer found no room; set with mu held, and so before the next frame is taken

	peer      int32 // the reader's number for the writer
	bound     bool  // peer is known and frames may be read
	abandoned bool  // the reader is gone: frames vanish
	broken    bool  // by a cut: frames vanish, but the reader is to know
	finished  error // the writer is gone, and why
	endTaken  bool  // the reader knows
	_         [laneFill]byte
}

// frame is a copy of what was sent.
type frame struct {
	header  wire.Header
	payload []byte
	due     uint64 // the reader's Poll that may deliver it
	_       [frameFill]byte
}

// leastSpare is the room for used frames that a lane begins with: cache lines of its own, since it changes with each frame. A few
// pointers would lie beside those of lanes that other goroutines use.
const leastSpare = 2 * cacheLine / 8

func newLane(n *Network, reader *Port, cut *atomic.Bool, number uint64) *lane {
	return &lane{
		reader: reader, cut: cut, reliable: n.opt.Faults == Faults{}, heals: n.caps.Heals, poison: n.opt.Poison,
		queue: make([]*frame, n.opt.Depth), spare: make([]*frame, 0, leastSpare), faults: n.opt.Faults.dice(number),
	}
}

// put copies a frame into the lane. False: it is full.
func (l *lane) put(h *wire.Header, v *wire.Vec, off int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.abandoned || l.finished != nil:
		return true
	case l.count == len(l.queue):
		l.wanted.Store(true)
		return false
	case l.faults != nil:
		l.putFaulty(h, v, off)
	default:
		l.insert(l.copyOf(h, v, off), l.count)
	}
	return true
}

// putFaulty does to a frame what the dice say.
func (l *lane) putFaulty(h *wire.Header, v *wire.Vec, off int) {
	copies := l.faults.copies()
	if l.cut.Load() {
		return
	}
	for ; copies > 0 && l.count < len(l.queue); copies-- {
		f := l.copyOf(h, v, off)
		f.due = l.reader.polls.Load() + l.faults.delay()
		l.insert(f, l.faults.place(l.count))
	}
}

func (l *lane) copyOf(h *wire.Header, v *wire.Vec, off int) *frame {
	f := l.takeSpare()
	f.header = *h
	f.header.DropAbsent()
	n := int(h.Length)
	if cap(f.payload) < n {
		f.payload = make([]byte, n, max(n, cacheLine))
	}
	f.payload = f.payload[:n]
	if n > 0 {
		if got := v.Gather(f.payload, off); got < n {
			panic(fmt.Sprintf("mem: %v frame of %d bytes, but the list has %d from %d on", h.Kind, n, got, off))
		}
	}
	return f
}

func (l *lane) takeSpare() *frame {
	if len(l.spare) == 0 {
		return new(frame)
	}
	f := l.spare[len(l.spare)-1]
	l.spare = l.spare[:len(l.spare)-1]
	return f
}

// insert puts f in front of the frame at place, or behind the last.
func (l *lane) insert(f *frame, place int) {
	for i := l.count; i > place; i-- {
		*l.at(i) = *l.at(i - 1)
	}
	*l.at(place) = f
	l.count++
	l.tell()
}

// tell has the reader look. mu is held.
func (l *lane) tell() {
	if !l.news.Load() {
		l.news.Store(true)
	}
}

func (l *lane) remove(place int) *frame {
	f := *l.at(place)
	for i := place; i > 0; i-- {
		*l.at(i) = *l.at(i - 1)
	}
	*l.at(0) = nil
	l.head = (l.head + 1) % len(l.queue)
	l.count--
	return f
}

func (l *lane) at(place int) **frame {
	i := l.head + place
	if i >= len(l.queue) {
		i -= len(l.queue)
	}
	return &l.queue[i]
}

// bind opens the lane to its reader and reports whether something waits there.
func (l *lane) bind(peer int32) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.peer, l.bound = peer, true
	return l.count > 0 || l.ended()
}

// next takes done back, which the handler has seen, and lends the next frame
// that may be delivered, with the number of its sender; nil if there is none.
func (l *lane) next(done *frame, step uint64) (*frame, int32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if done != nil {
		l.recycle(done)
	}
	if !l.bound || l.abandoned || l.broken || l.stalled() {
		return nil, 0
	}
	if done == nil && l.count == 0 && l.finished == nil {
		l.news.Store(false)
		return nil, 0
	}
	return l.firstDue(step), l.peer
}

// stalled: a cut holds frames back where they must not be lost and links don't break.
func (l *lane) stalled() bool { return l.reliable && !l.heals && l.cut.Load() }

func (l *lane) firstDue(step uint64) *frame {
	for i := range l.count {
		if (*l.at(i)).due <= step {
			return l.remove(i)
		}
	}
	return nil
}

// release takes back a frame that the handler has seen.
func (l *lane) release(f *frame) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recycle(f)
}

// answersWant reports, once, whether the writer is to hear of the room that was made since it found none.
func (l *lane) answersWant() bool { return l.wanted.Load() && l.wanted.Swap(false) }

func (l *lane) recycle(f *frame) {
	if l.poison {
		for i := range f.payload {
			f.payload[i] = 0xdb
		}
	}
	l.spare = append(l.spare, f)
}

// quiet reports whether the reader has nothing to poll for.
func (l *lane) quiet() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.abandoned || l.stalled() {
		return true
	}
	return !(l.bound && l.count > 0) && !l.ended()
}

// ended: the reader has had everything and does not yet know that it was all. Before bind it is not to know: it may not have the link yet.
func (l *lane) ended() bool {
	return l.bound && l.reliable && l.finished != nil && !l.endTaken && l.count == 0
}

// takeEnd returns why the writer is gone, once, when all frames are delivered.
func (l *lane) takeEnd() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.abandoned || l.stalled() || !l.ended() {
		return nil
	}
	l.endTaken = true
	return l.finished
}

// finish marks the end of what the writer sends; false if it was marked before.
func (l *lane) finish(reason error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.finished != nil {
		return false
	}
	l.finished = reason
	l.tell()
	return true
}

// sever loses what is under way. The reader learns that the link has ended.
func (l *lane) sever(reason error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = true
	if l.finished == nil {
		l.finished = reason
	}
	l.tell()
	clear(l.queue)
	l.count = 0
}

func (l *lane) severed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.broken
}

// abandon is the reader's end. What it holds just now stays valid for it.
func (l *lane) abandon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.abandoned = true
	clear(l.queue)
	l.count, l.spare = 0, nil
}
