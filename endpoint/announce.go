package endpoint

// announcement is a message of a multi-receive that nobody has collected.
type announcement struct {
	message []byte
	multi   Handle
	status  Status // its context is that of the multi-receive
}

// announcements are those of a queue, oldest first, in a ring. Positions count all that there have ever been.
type announcements struct {
	ring        []announcement // a power of two
	first, next uint32
}

// leastAnnouncements is the size of a queue's first ring.
const leastAnnouncements = 32

func (a *announcements) some() bool { return a.first != a.next }

func (a *announcements) len() int { return int(a.next - a.first) }

func (a *announcements) at(position uint32) *announcement {
	return &a.ring[position&uint32(len(a.ring)-1)]
}

// take returns the oldest announcement, which is valid until the next one is added.
func (a *announcements) take() *announcement {
	a.first++
	return a.at(a.first - 1)
}

func (a *announcements) grow() {
	larger := announcements{make([]announcement, max(2*len(a.ring), leastAnnouncements)), a.first, a.next}
	for i := a.first; i != a.next; i++ {
		*larger.at(i) = *a.at(i)
	}
	*a = larger
}

// full reports whether the ring has to grow for another one.
func (a *announcements) full() bool { return a.len() == len(a.ring) }

// add adds an announcement, for the caller to fill in, to a ring that is not full. Its context is nil.
func (a *announcements) add() *announcement {
	a.next++
	return a.at(a.next - 1)
}

// enter adds a completed request to a queue of the user's, behind what has been announced there.
func (d *doneList) enter(s *slab, slot int32, r *request) {
	r.token = uint64(d.announced.next)
	d.add(s, slot, r)
}

// announces reports whether messages of a multi-receive wait to be collected.
func (e *Engine) announces(of Handle) bool {
	for i := range e.queues {
		a := &e.queues[i].announced
		for at := a.first; at != a.next; at++ {
			if a.at(at).multi == of {
				return true
			}
		}
	}
	return false
}
