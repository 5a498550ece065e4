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
	membership *membership
	settings   *settings
	listener   net.Listener
	ending
	since time.Time

	mu            sync.Mutex
	members       []*seatAtRoot // by rank
	businessCards [][]byte
	missing       int           // members whose business card is not there yet
	complete      chan struct{} // closed when none is missing, or one never will
	failure       error
	strangers     int // connections that were not of this job
	misfits       int // members of it that made no job with the others
	misfit        string

	news sync.RWMutex // held for reading from when this rank learns of a failed rank until the others are told
}

// seatAtRoot is the root's state of a member.
type seatAtRoot struct {
	peer
	left    bool // it has taken leave, or has died
	heard   bool // the verdict
	refused bool // it was told that rank 0 can't go on
}

// handshakesAtOnce is the limit of pending handshakes.
const handshakesAtOnce = 512

// writeTime bounds the wait for a member that does not read.
const writeTime = 10 * time.Second

func (p *membership) listen(s *settings) (*root, error) {
	r := &root{membership: p, settings: s, members: make([]*seatAtRoot, p.size), businessCards: make([][]byte, p.size), since: time.Now()}
	r.ending.start(p.size)
	r.renew()
	host := ""
	if addr, err := netip.ParseAddr(p.host); err == nil {
		host = addr.String() // a name may lead to a proxy in front of this host
	}
	var errs []error
	for _, port := range p.ports {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err == nil {
			r.listener = l
			go inLaunch.Func(r.accept)()
			return r, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("rank 0 can't listen where the others look for it: %w", errors.Join(errs...))
}

// renew prepares the next exchange. It is called with mu held, or before there are connections.
func (r *root) renew() {
	r.missing = r.membership.size - 1
	r.complete = make(chan struct{})
}

func (r *root) accept() {
	tickets := make(chan struct{}, handshakesAtOnce)
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
				who, err := r.membership.open(r.settings, c)
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

// admit answers a member's handshake, and reads its frames if it is welcome.
func (r *root) admit(who *peer) {
	v, m := r.judge(who)
	r.noteMisfit(v, who)
	if err := who.answer(v); err != nil || v != welcome {
		_ = who.conn.Close()
		return
	}
	r.mu.Lock()
	m.heard = true
	r.mu.Unlock()
	r.listenTo(m)
}

// noteMisfit remembers a member that is turned away.
func (r *root) noteMisfit(v verdict, who *peer) {
	if v == welcome {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.misfits++
	r.misfit = fmt.Sprintf("rank %d of %d came from %v and was turned away", who.rank, who.size, who.conn.RemoteAddr())
	if v == rankTaken {
		r.misfit += " because another process is that rank"
	}
}

// judge decides about a member. A member that connects twice with the same nonce has not received the verdict.
func (r *root) judge(who *peer) (verdict, *seatAtRoot) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case who.size != r.membership.size:
		return otherSize, nil
	case who.rank < 1 || who.rank >= r.membership.size:
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
	m := &seatAtRoot{peer: *who}
	r.members[who.rank] = m
	return welcome, m
}

// listenTo reads a member's frames until its connection ends.
func (r *root) listenTo(m *seatAtRoot) {
	in := bufio.NewReader(m.conn)
	for {
		kind, payload, err := readFrame(in, MaxBusinessCard)
		if err != nil {
			r.died(m, err)
			return
		}
		switch kind {
		case frameBusinessCard:
			r.take(m.rank, payload)
		case frameAbort:
			a := parseAbort(payload)
			a.Rank = m.rank
			r.broadcastAbort(a)
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

// take keeps a business card for the current exchange, or for the next one. A member sends no second one before it has
// received the table of the current exchange.
func (r *root) take(rank int, businessCard []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.businessCards[rank] != nil {
		return
	}
	r.businessCards[rank] = nonNil(businessCard)
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

// fail ends this exchange and later ones, since a member that has gone sends no business card.
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

// broadcast sends a frame to all members that are connected.
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

// broadcastAbort tells all ranks of an abort, including this one.
func (r *root) broadcastAbort(a *Aborted) {
	r.broadcast(frameAbort, abortFrame(a))
	r.end(a)
}

func (r *root) exchange(ctx context.Context, businessCard []byte) ([][]byte, error) {
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
	all := r.businessCards
	all[0] = nonNil(businessCard)
	r.businessCards = make([][]byte, len(all))
	r.renew()
	if r.failure != nil {
		r.completed() // of the next exchange nothing will come
	}
	r.mu.Unlock()
	r.broadcast(frameTable, packBusinessCards(all))
	return all, nil
}

// late returns an error that names the ranks that are missing.
func (r *root) late() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var absent, silent []int
	for rank := 1; rank < len(r.members); rank++ {
		switch {
		case r.members[rank] == nil:
			absent = append(absent, rank)
		case r.businessCards[rank] == nil:
			silent = append(silent, rank)
		}
	}
	text := fmt.Sprintf("within %v", r.settings.meet)
	if len(absent) > 0 {
		text += fmt.Sprintf(" rank %s did not come to %v", rankList(absent), r.listener.Addr())
	}
	if len(silent) > 0 {
		text += fmt.Sprintf(" rank %s came but handed in no business card", rankList(silent))
	}
	if r.misfits > 0 {
		text += fmt.Sprintf("; this job has %d ranks, and %s (number of processes turned away: %d)", r.membership.size, r.misfit, r.misfits)
	}
	if r.strangers > 0 {
		text += fmt.Sprintf("; connections that did not show they were of this job: %d", r.strangers)
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
	r.broadcastAbort(&Aborted{Rank: 0, Code: code, Reason: reason})
}

// blame is for launchers: the root notices failed ranks itself.
func (r *root) blame(int) {}

// stay is how long a rank 0 that can't go on answers other ranks. They look for it once a second at least.
const stay = 3 * lastPause

// stays returns stay, or the rest of MX_MEET_TIMEOUT if that is shorter.
func (r *root) stays() time.Duration { return min(stay, r.settings.meet-time.Since(r.since)) }

// cancel tells the other ranks why this one can't go on, including those that connect during stays. Ranks that come later
// can't tell a root that has failed from one that has not started.
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
	r.news.Lock() // a rank that leaves because another has failed may be the only one that has told the others
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

// closeGently closes a connection so that written data arrive: a plain close while received data are unread would reset the
// connection and discard them.
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
