package launch

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// visitor is a rank other than 0 of ranks that meet without a launcher.
type visitor struct {
	place    *place
	settings *settings
	conn     net.Conn
	tables   chan []byte
	ending

	mu sync.Mutex // of writing
}

// errRootGone is why calls fail when rank 0 has ended before its time.
var errRootGone = errors.New("rank 0, where the ranks meet, has gone")

// Pauses between attempts to reach rank 0, which may not have started yet, and how long somebody who says nothing is waited for
// before the next place is tried as well.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = time.Second
	nextPlace  = 250 * time.Millisecond
)

func (p *place) visit(s *settings) (*visitor, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.meet)
	defer cancel()
	f := &search{place: p, busy: map[string]bool{}, greeted: make(chan *caller), pause: firstPause}
	c, err := f.root(ctx, s)
	if err != nil {
		return nil, err
	}
	return newVisitor(p, s, c), nil
}

// search looks for rank 0 at all addresses of its host, and at all ports where it may be.
type search struct {
	place   *place
	queue   []string        // places to try in this round
	busy    map[string]bool // those that have not answered yet
	greeted chan *caller
	pause   time.Duration // before the next round
	last    error
}

// caller is an attempt to hear a greeting.
type caller struct {
	at       string
	conn     net.Conn
	greeting []byte
	err      error
}

// root returns a connection on which rank 0 has welcomed this rank.
func (f *search) root(ctx context.Context, s *settings) (net.Conn, error) {
	var nonce [nonceSize]byte
	_, _ = rand.Read(nonce[:]) // never fails
	next := time.NewTimer(0)
	defer next.Stop()
	for {
		select {
		case <-next.C:
			next.Reset(f.goOn(ctx))
		case c := <-f.greeted:
			delete(f.busy, c.at)
			if c.err == nil {
				c.err = f.place.knock(s, c, nonce[:])
			}
			if c.err == nil {
				return c.conn, nil
			}
			if no := refused(0); errors.As(c.err, &no) && no.final() {
				return nil, fmt.Errorf("%s: %w", c.at, c.err)
			}
			if ctx.Err() == nil || f.last == nil {
				f.last = fmt.Errorf("%s: %w", c.at, c.err)
			}
			if len(f.queue) > 0 {
				next.Reset(0)
			}
		case <-ctx.Done():
			if f.last == nil {
				f.last = ctx.Err()
			}
			return nil, fmt.Errorf("rank 0 was not found within %v: %w", s.meet, f.last)
		}
	}
}

// goOn calls at the next place, and returns when to go on from there.
func (f *search) goOn(ctx context.Context) time.Duration {
	if len(f.queue) == 0 {
		f.queue = f.places(ctx)
	}
	if len(f.queue) > 0 {
		c := &caller{at: f.queue[0]}
		f.queue, f.busy[c.at] = f.queue[1:], true
		go c.call(ctx, f.greeted)
	}
	if len(f.queue) > 0 {
		return nextPlace
	}
	defer func() { f.pause = min(2*f.pause, lastPause) }()
	return f.pause
}

// places returns where nobody is being called. The name is looked up each time: it may not be known yet, or lead elsewhere soon.
func (f *search) places(ctx context.Context) (all []string) {
	ctx, cancel := context.WithTimeout(ctx, helloTime)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", f.place.host)
	if err != nil && (ctx.Err() == nil || f.last == nil) {
		f.last = fmt.Errorf("%s: %w", f.place.host, err)
	}
	for _, port := range f.place.ports {
		for _, a := range addrs {
			if at := netip.AddrPortFrom(a.Unmap(), uint16(port)).String(); !f.busy[at] {
				all = append(all, at)
			}
		}
	}
	return all
}

// call dials and waits for a greeting.
func (c *caller) call(ctx context.Context, greeted chan<- *caller) {
	d := net.Dialer{Timeout: helloTime}
	if c.conn, c.err = d.DialContext(ctx, "tcp", c.at); c.err == nil {
		stop := context.AfterFunc(ctx, func() { _ = c.conn.Close() })
		c.greeting, c.err = hearGreeting(c.conn)
		stop()
	}
	select {
	case greeted <- c:
	case <-ctx.Done(): // somebody else has been found
		if c.conn != nil {
			_ = c.conn.Close()
		}
	}
}

func newVisitor(p *place, s *settings, c net.Conn) *visitor {
	v := &visitor{place: p, settings: s, conn: c, tables: make(chan []byte, 1)}
	v.ending.start(p.size)
	go v.listen()
	return v
}

// listen reads what the root says until it is gone.
func (v *visitor) listen() {
	in := bufio.NewReader(v.conn)
	for {
		kind, payload, err := readFrame(in, longestFrame)
		if err != nil {
			v.end(errRootGone)
			return
		}
		switch kind {
		case frameTable:
			select {
			case v.tables <- payload:
			default: // nobody has asked for it
			}
		case frameAbort:
			v.end(parseAbort(payload))
		case frameDead:
			if len(payload) == 4 {
				v.report(int(binary.LittleEndian.Uint32(payload)))
			}
		case frameFailed:
			v.end(fmt.Errorf("rank 0 can't go on: %s", payload))
		case frameBye:
			v.over()
		}
	}
}

func (v *visitor) say(kind byte, payload []byte) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return writeFrame(v.conn, kind, payload, writeTime)
}

func (v *visitor) exchange(ctx context.Context, card []byte) ([][]byte, error) {
	if err := v.say(frameCard, card); err != nil {
		return nil, v.last(err)
	}
	limit := time.NewTimer(v.settings.meet)
	defer limit.Stop()
	select {
	case table := <-v.tables:
		return v.read(table)
	case <-v.lost():
		select {
		case table := <-v.tables: // came before the end
			return v.read(table)
		default:
			return nil, v.why()
		}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-limit.C:
		return nil, fmt.Errorf("rank 0 has not handed out the cards within %v: not all ranks have come", v.settings.meet)
	}
}

// last returns what rank 0 has said before it has gone, such as an abort, or that it has gone.
func (v *visitor) last(err error) error {
	select {
	case <-v.lost():
		return v.why()
	case <-time.After(helloTime):
		return fmt.Errorf("%w: %w", errRootGone, err)
	}
}

func (v *visitor) read(table []byte) ([][]byte, error) {
	all := make([][]byte, v.place.size)
	_, err := unpackCards(table, all)
	if err == nil && slices.ContainsFunc(all, func(card []byte) bool { return card == nil }) {
		err = errors.New("cards are missing")
	}
	return all, err
}

func (v *visitor) abort(code int, reason string) {
	_ = v.say(frameAbort, abortFrame(&Aborted{Rank: v.place.rank, Code: code, Reason: reason}))
}

// blame is for launchers: the root hears of deaths itself.
func (v *visitor) blame(int) {}

func (v *visitor) cancel(reason string) {
	v.over()
	_ = v.say(frameFailed, []byte(reason)) // the root may have left before
	closeGently(v.conn)
}

func (v *visitor) finalize(context.Context) error {
	v.over()
	_ = v.say(frameBye, nil) // the root may have left before
	closeGently(v.conn)
	return nil
}
