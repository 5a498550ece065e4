package stream

// advert is memory that the sender knows of.
type advert struct {
	number uint32
	owner  uint64
	off, n int
	got    int
	whole  bool
	landed bool
}

// adverts are those outstanding, in the order of their numbers, and what became of
// those that were withdrawn.
type adverts struct {
	queue[advert]
	ghosts     queue[advert] // withdrawn, but the sender may have used them; all behind the others
	advertised int           // bytes of both
	next       uint32        // the next number
	used       uint32        // one more than the last one known to be used

	epoch   uint32
	first   uint32 // number of this epoch
	late    int    // epochs in a row of which the sender has used nothing
	pause   int    // indirect messages before the next one
	open    bool   // the sender may use more adverts of this epoch
	answers int    // withdrawals that it has not answered

	asked    bool   // the receive of number is being withdrawn
	number   uint32 //
	matched  bool   // it could not be: all that are outstanding are used
	voids    queue[uint32]
	ghostly  bool   // some were withdrawn, and the sender doesn't know
	ghostMin uint32 // the first of these
}

// unsettled reports whether some adverts may still be used, or are being used.
func (a *adverts) unsettled() bool {
	return a.len() > 0 || a.ghosts.len() > 0 || a.answers > 0 || a.asked
}

// advertise offers the memory of waiting receives, in order, while everything that
// was sent has been consumed.
func (r *Receiver) advertise() {
	a := &r.adverts
	if r.fin || r.shut || r.buffer.held > 0 || a.ghosts.len() > 0 || a.answers > 0 || a.asked ||
		r.worth == 0 && r.cfg.buffered() || a.pause > 0 && !r.asked {
		return
	}
	most := r.cfg.Credits
	if a.late > 0 {
		most = 1 // this one will show whether others are worth it
	}
	for r.offered < r.waiting.len() && a.len() < most {
		u := r.waiting.at(r.offered)
		rest := u.n - u.offered
		n := min(rest, r.cfg.Piece, r.cfg.MaxAdvertised-a.advertised)
		if u.leaving || u.flags&(Peek|Hidden) != 0 || n == 0 || n < rest && n < r.cfg.DirectMin ||
			rest < r.cfg.DirectMin && u.offered == u.filled && r.cfg.buffered() {
			return
		}
		r.offer(u, n)
		if u.offered == u.n || !u.all() {
			r.offered++
		}
	}
}

func (r *Receiver) offer(u *receive, n int) {
	a := &r.adverts
	if !a.open {
		a.open = true
		a.epoch++
		a.first = a.next
	}
	post := r.script.add(ToPost)
	post.Number, post.ID, post.Off, post.N = a.next, u.id, u.offered, n
	r.granted = r.freed + uint64(r.capacity)
	r.script.tell(Message{
		Kind: Advert, Whole: u.all(), Number: a.next, Epoch: a.epoch, Len: uint32(n),
		Position: r.position, Window: r.granted,
	})
	if a.len() == 0 { // it will be used: the sender has not left this epoch with bytes still landing
		r.asked = false
	}
	*a.push() = advert{number: a.next, owner: u.owner, off: u.offered, n: n, whole: u.all()}
	a.next++
	a.advertised += n
	a.matched = false
	u.offered += n
	u.adverts++
	r.count.Adverts++
}

// latest is when late epochs count no further: then 64 messages lie between adverts.
const latest = 8

// judge learns from an epoch that ends before number whether adverts come in time. A
// sender that is ahead stays so for some time, and to send and to give up an advert
// costs as much as a message.
func (a *adverts) judge(number uint32) {
	if before(a.first, number) {
		a.late, a.pause = 0, 0
		return
	}
	a.late = min(a.late+1, latest)
	a.pause = 1 << a.late >> 2
}

// owner returns the receive that an advert is of.
func (r *Receiver) owner(a *advert) *receive {
	for i := r.waiting.len() - 1; ; i-- {
		if u := r.waiting.at(i); u.owner == a.owner {
			return u
		}
	}
}

// popBack takes the last advert from the list, and its memory back.
func (r *Receiver) popBack() (gone advert) {
	a := &r.adverts
	gone = *a.back()
	a.popBack()
	u := r.owner(&gone)
	u.adverts--
	u.offered = gone.off
	r.recount()
	return gone
}

// recount finds the first receive that can be advertised further.
func (r *Receiver) recount() {
	r.offered = 0
	for r.offered < r.waiting.len() {
		u := r.waiting.at(r.offered)
		if u.adverts == 0 || u.all() && u.offered < u.n {
			break
		}
		r.offered++
	}
}

// endEpoch learns that the sender uses no more adverts of this epoch, and none from
// number on.
func (r *Receiver) endEpoch(number uint32) error {
	a := &r.adverts
	for a.len() > 0 && !before(a.back().number, number) {
		if a.back().landed {
			return errVoid
		}
		gone := r.popBack()
		a.advertised -= gone.n
		r.count.Voided++
		if a.asked && a.number == gone.number {
			a.asked = false
		} else {
			r.script.add(ToUnpost).Number = gone.number
		}
		*a.voids.push() = gone.number
	}
	for a.ghosts.len() > 0 && !before(a.ghosts.back().number, number) {
		a.advertised -= a.ghosts.back().n
		a.ghosts.popBack()
	}
	if a.open {
		a.judge(number)
	} else if a.pause > 0 {
		a.pause--
	}
	a.open, a.answers, a.ghostly = false, 0, false
	if a.ghosts.len() > 0 {
		return errSkipped
	}
	last := a.used
	if a.len() > 0 && before(last, a.back().number+1) {
		last = a.back().number + 1
	}
	if number != last {
		return errUsed
	}
	a.used = last
	return nil
}
