package launch

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// root is rank 0 of ranks that meet without a launcher.
type root struct {
	place    *place
	settings *settings
	listener net.Listener
	ending
	since time.Time

	mu        sync.Mutex
	members   []*seatAtRoot // by rank
	cards     [][]byte
	missing   int           // members whose card is not there yet
	complete  chan struct{} // closed when none is missing, or one never will
	failure   error
	strangers int // connections that were not of this job

	news sync.RWMutex // held for reading from when this rank is told of a death until the others are
}

// seatAtRoot is a member as the root has it.
type seatAtRoot struct {
	guest
	left    bool // it has taken leave, or has died
	heard   bool // the verdict
	refused bool // it was told that rank 0 can't go on
}

// knocking bounds the connections at once of whom the root knows nothing yet.
const knocking = 512

// writeTime bounds the wait for a member that does not read.
const writeTime = 10 * time.Second

func (p *place) listen(s *settings) (*root, error) {
	r := &root{place: p, settings: s, members: make([]*seatAtRoot, p.size), cards: make([][]byte, p.size), since: time.Now()}
	r.ending.start(p.size)
	r.renew()
	host := ""
	if addr, err := netip.ParseAddr(p.host); err == nil {
		host = addr.String() // a name may lead to a place in front of this host
	}
	var errs []error
	for _, port := range p.ports {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err == nil {
			r.listener = l
			go r.accept()
			return r, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("rank 0 can't listen where the others look for it: %w", errors.Join(errs...))
}

// renew makes ready for the next exchange. Called with mu held, or before there are others.
func (r *root) renew() {
	r.missing = r.place.size - 1
	r.complete = make(chan struct{})
}

func (r *root) accept() {
	tickets := make(chan struct{}, knocking)
	for {
		c, err := r.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			time.Sleep(firstPause) // there may be no descriptor left until somebody goes
			continue
		}
		select {
		case tickets <- struct{}{}:
			go func() {
				who, err := r.place.open(r.settings, c)
				<-tickets
				if err != nil {
					r.stranger(c)
					return
				}
				r.admit(who)
			}()
		default:
			r.stranger(c)
		}
	}
}

func (r *root) stranger(c net.Conn) {
	_ = c.Close()
	r.mu.Lock()
	r.strangers++
	r.mu.Unlock()
}

// admit seats a member and listens to it.
func (r *root) admit(who *guest) {
	v, m := r.judge(who)
	if err := who.answer(v); err != nil || v != welcome {
		_ = who.conn.Close()
		return
	}
	r.mu.Lock()
	m.heard = true
	r.mu.Unlock()
	r.listenTo(m)
}

// judge gives a member its seat. One that comes again has not heard the verdict.
func (r *root) judge(who *guest) (verdict, *seatAtRoot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case who.size != r.place.size:
		return otherSize, nil
	case who.rank < 1 || who.rank >= r.place.size:
		return rankTaken, nil
	}
	before := r.members[who.rank]
	if before != nil && before.nonce != who.nonce {
		return rankTaken, nil
	}
	if before != nil {
		before.left = true
		_ = before.conn.Close()
	}
	m := &seatAtRoot{guest: *who}
	r.members[who.rank] = m
	return welcome, m
}

// listenTo reads what a member says until it is gone.
func (r *root) listenTo(m *seatAtRoot) {
	in := bufio.NewReader(m.conn)
	for {
		kind, payload, err := readFrame(in, MaxCard)
		if err != nil {
			r.died(m, err)
			return
		}
		switch kind {
		case frameCard:
			r.take(m.rank, payload)
		case frameAbort:
			a := parseAbort(payload)
			a.Rank = m.rank
			r.spread(a)
		case frameFailed:
			r.fail(fmt.Errorf("rank %d can't go on: %s", m.rank, payload))
		case frameBye:
			r.mu.Lock()
			m.left = true
			r.mu.Unlock()
			r.fail(fmt.Errorf("rank %d has taken leave", m.rank))
		}
	}
}

// take keeps a card for the exchange that is under way, or for the next one: a member hands in no
// other before it has had the table.
func (r *root) take(rank int, card []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cards[rank] != nil {
		return
	}
	r.cards[rank] = nonNil(card)
	if r.missing--; r.missing == 0 {
		r.completed()
	}
}

func (r *root) completed() {
	select {
	case <-r.complete:
	default:
		close(r.complete)
	}
}

// fail ends exchanges: a member that has gone hands in no card.
func (r *root) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure == nil {
		r.failure = err
	}
	r.completed()
}

func (r *root) died(m *seatAtRoot, err error) {
	_ = m.conn.Close()
	r.mu.Lock()
	known := m.left
	m.left = true
	r.mu.Unlock()
	r.news.RLock()
	defer r.news.RUnlock()
	if known || r.isOver() {
		return
	}
	r.fail(fmt.Errorf("rank %d has gone: %w", m.rank, err))
	r.report(m.rank)
	r.broadcast(frameDead, binary.LittleEndian.AppendUint32(nil, uint32(m.rank)))
}

// broadcast says something to all members that are there.
func (r *root) broadcast(kind byte, payload []byte) {
	r.mu.Lock()
	members := slices.Clone(r.members)
	r.mu.Unlock()
	var all sync.WaitGroup
	for _, m := range members {
		if m != nil {
			all.Go(func() { _ = writeFrame(m.conn, kind, payload, writeTime) }) // who can't hear it is gone
		}
	}
	all.Wait()
}

// spread makes an abort known to all ranks, this one too.
func (r *root) spread(a *Aborted) {
	r.broadcast(frameAbort, abortFrame(a))
	r.end(a)
}

func (r *root) exchange(ctx context.Context, card []byte) ([][]byte, error) {
	r.mu.Lock()
	complete := r.complete
	r.mu.Unlock()
	limit := time.NewTimer(r.settings.meet)
	defer limit.Stop()
	select {
	case <-complete:
	case <-r.lost():
		return nil, r.why()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-limit.C:
		return nil, r.late()
	}
	r.mu.Lock()
	if r.missing > 0 {
		defer r.mu.Unlock()
		return nil, cmp.Or(r.why(), r.failure) // who aborts the job goes, too
	}
	all := r.cards
	all[0] = nonNil(card)
	r.cards = make([][]byte, len(all))
	r.renew()
	if r.failure != nil {
		r.completed() // of the next exchange nothing will come
	}
	r.mu.Unlock()
	r.broadcast(frameTable, packCards(all))
	return all, nil
}

// late says who has not come.
func (r *root) late() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var absent, silent []int
	for rank := 1; rank < len(r.members); rank++ {
		switch {
		case r.members[rank] == nil:
			absent = append(absent, rank)
		case r.cards[rank] == nil:
			silent = append(silent, rank)
		}
	}
	text := fmt.Sprintf("within %v", r.settings.meet)
	if len(absent) > 0 {
		text += fmt.Sprintf(" rank %s did not come to %v", rankList(absent), r.listener.Addr())
	}
	if len(silent) > 0 {
		text += fmt.Sprintf(" rank %s came but handed in no card", rankList(silent))
	}
	if r.strangers > 0 {
		text += fmt.Sprintf("; %d connections were not of this job", r.strangers)
	}
	return errors.New(text)
}

// rankList writes 1, 3-7, 9.
func rankList(ranks []int) string {
	var b strings.Builder
	for i := 0; i < len(ranks); {
		j := i
		for j+1 < len(ranks) && ranks[j+1] == ranks[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, ranks[i])
		if j > i {
			fmt.Fprintf(&b, "-%d", ranks[j])
		}
		i = j + 1
	}
	return b.String()
}

func (r *root) abort(code int, reason string) {
	r.spread(&Aborted{Rank: 0, Code: code, Reason: reason})
}

// blame is for launchers: the root hears of deaths itself.
func (r *root) blame(int) {}

// stay is how long a rank 0 that can't go on is there for the others: they look for it once a second at least.
const stay = 3 * lastPause

// stays is that, unless the time to come is over before.
func (r *root) stays() time.Duration { return min(stay, r.settings.meet-time.Since(r.since)) }

// cancel tells the others, also those that come while it stays. From who comes later a root that has failed can't be told from one that has not started.
func (r *root) cancel(reason string) {
	r.over()
	for limit := time.Now().Add(r.stays()); r.refuse(reason) > 0 && time.Now().Before(limit); {
		time.Sleep(firstPause)
	}
	_ = r.finalize(context.Background())
}

// refuse tells members that have heard the verdict that rank 0 can't go on, and returns how many have not been told.
func (r *root) refuse(reason string) (untold int) {
	var here []*seatAtRoot
	r.mu.Lock()
	for _, m := range r.members[1:] {
		switch {
		case m == nil || !m.heard:
			untold++
		case !m.refused:
			m.refused = true
			here = append(here, m)
		}
	}
	r.mu.Unlock()
	for _, m := range here {
		_ = writeFrame(m.conn, frameFailed, []byte(reason), writeTime) // who can't hear it is gone
	}
	return untold
}

func (r *root) finalize(context.Context) error {
	r.over()
	r.news.Lock() // who leaves because of a death may be the only one that has told the others
	defer r.news.Unlock()
	r.broadcast(frameBye, nil)
	_ = r.listener.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.members {
		if m != nil {
			closeGently(m.conn)
		}
	}
	return nil
}

// closeGently lets what was written arrive: a close while words of the other side lie unread would
// throw it away.
func closeGently(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok && t.CloseWrite() == nil {
		_ = c.SetReadDeadline(time.Now().Add(time.Second))
		go func() {
			_, _ = io.Copy(io.Discard, c)
			_ = c.Close()
		}()
		return
	}
	_ = c.Close()
}
