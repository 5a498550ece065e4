package launch

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// visitor is a rank other than 0 of ranks that meet without a launcher.
type visitor struct {
	membership *membership
	settings   *settings
	conn       net.Conn
	tables     chan []byte
	ending

	mu sync.Mutex // of writing
}

// errRootGone is the error of calls when rank 0 has ended before its time.
var errRootGone = errors.New("rank 0, where the ranks meet, has gone")

// Pauses between attempts to reach rank 0, which may not have started yet. nextAddress is how long an address that does not
// answer delays the attempt at the next one.
const (
	firstPause  = 10 * time.Millisecond
	lastPause   = time.Second
	nextAddress = 250 * time.Millisecond
)

func (p *membership) visit(s *settings) (*visitor, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.meet)
	defer cancel()
	f := &search{membership: p, busy: map[string]*caller{}, greeted: make(chan *caller), pause: firstPause}
	c, err := f.root(ctx, s)
	if err != nil {
		return nil, err
	}
	return newVisitor(p, s, c), nil
}

// search looks for rank 0 at all addresses of its host, and at all ports at which it may listen.
type search struct {
	membership *membership
	queue      []string           // addresses to try in this round
	busy       map[string]*caller // those that have not answered yet
	greeted    chan *caller
	pause      time.Duration // before the next round
	last       error
}

// caller is an attempt to connect to an address and to receive the greeting.
type caller struct {
	at       string
	conn     net.Conn
	accepted atomic.Bool // the connection stands
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
				c.err = f.membership.finishHandshake(s, c, nonce[:])
			}
			if c.err == nil {
				return c.conn, nil
			}
			if no, is := errors.AsType[*refused](c.err); is && no.final() {
				return nil, fmt.Errorf("%s: %w", c.at, c.err)
			}
			if ctx.Err() == nil || f.last == nil {
				f.last = fmt.Errorf("%s: %w", c.at, c.err)
			}
			if len(f.queue) > 0 {
				next.Reset(0)
			}
		case <-ctx.Done():
			return nil, fmt.Errorf("rank 0 was not found within %v: %w", s.meet, f.why())
		}
	}
}

// why is what the search has found last, of a place that is still busy if there is one that is connected, or nothing else.
func (f *search) why() error {
	err := f.last
	for at, c := range f.busy {
		if c.accepted.Load() {
			return fmt.Errorf("%s: %w", at, errMute)
		}
		err = cmp.Or(err, fmt.Errorf("%s: nothing answers there: a firewall between the hosts, or a host that is down", at))
	}
	return cmp.Or(err, fmt.Errorf("%s: its address is not known yet", f.membership.host))
}

// goOn dials the next address, and returns after which time to go on.
func (f *search) goOn(ctx context.Context) time.Duration {
	if len(f.queue) == 0 {
		f.queue = f.addresses(ctx)
	}
	if len(f.queue) > 0 {
		c := &caller{at: f.queue[0]}
		f.queue, f.busy[c.at] = f.queue[1:], c
		go c.call(ctx, f.greeted)
	}
	if len(f.queue) > 0 {
		return nextAddress
	}
	defer func() { f.pause = min(2*f.pause, lastPause) }()
	return f.pause
}

// addresses returns those addresses of rank 0 that are not being dialled. The name is looked up each time: it may not be known yet, or may soon lead elsewhere.
func (f *search) addresses(ctx context.Context) (all []string) {
	ctx, cancel := context.WithTimeout(ctx, handshakeTime)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", f.membership.host)
	if err != nil && (ctx.Err() == nil || f.last == nil) {
		f.last = fmt.Errorf("%s: %w", f.membership.host, err)
	}
	for _, port := range f.membership.ports {
		for _, a := range addrs {
			if at := netip.AddrPortFrom(a.Unmap(), uint16(port)).String(); f.busy[at] == nil {
				all = append(all, at)
			}
		}
	}
	return all
}

// call dials and waits for a greeting.
func (c *caller) call(ctx context.Context, greeted chan<- *caller) {
	d := net.Dialer{Timeout: handshakeTime}
	if c.conn, c.err = d.DialContext(ctx, "tcp", c.at); c.err == nil {
		c.accepted.Store(true)
		stop := context.AfterFunc(ctx, func() { _ = c.conn.Close() })
		c.greeting, c.err = hearGreeting(c.conn)
		stop()
	}
	select {
	case greeted <- c:
	case <-ctx.Done(): // another address has answered
		if c.conn != nil {
			_ = c.conn.Close()
		}
	}
}

func newVisitor(p *membership, s *settings, c net.Conn) *visitor {
	v := &visitor{membership: p, settings: s, conn: c, tables: make(chan []byte, 1)}
	v.ending.start(p.size)
	go inLaunch.Func(v.listen)()
	return v
}

// listen reads the root's frames until its connection ends.
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

func (v *visitor) send(kind byte, payload []byte) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return writeFrame(v.conn, kind, payload, writeTime)
}

// tellTime is how much longer than rank 0 another rank waits for those that are missing. The time of rank 0, which alone can say who
// they are, may begin later.
const tellTime = 5 * time.Second

func (v *visitor) exchange(ctx context.Context, businessCard []byte) ([][]byte, error) {
	if err := v.send(frameBusinessCard, businessCard); err != nil {
		return nil, v.last(err)
	}
	limit := time.NewTimer(v.settings.meet + tellTime)
	defer limit.Stop()
	select {
	case table := <-v.tables:
		return v.read(table)
	case <-v.lost():
		select {
		case table := <-v.tables: // it arrived before the end
			return v.read(table)
		default:
			return nil, v.why()
		}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-limit.C:
		return nil, fmt.Errorf("rank 0 has not handed out the business cards within %v, nor said who is missing: its process stands still, or there is no way to its host any more", v.settings.meet+tellTime)
	}
}

// last returns the last notice of rank 0 before its connection ended, such as an abort, or errRootGone.
func (v *visitor) last(err error) error {
	select {
	case <-v.lost():
		return v.why()
	case <-time.After(handshakeTime):
		return fmt.Errorf("%w: %w", errRootGone, err)
	}
}

func (v *visitor) read(table []byte) ([][]byte, error) {
	all := make([][]byte, v.membership.size)
	_, err := unpackBusinessCards(table, all)
	if err == nil && slices.ContainsFunc(all, func(businessCard []byte) bool { return businessCard == nil }) {
		err = errors.New("business cards are missing")
	}
	return all, err
}

func (v *visitor) abort(code int, reason string) {
	_ = v.send(frameAbort, abortFrame(&Aborted{Rank: v.membership.rank, Code: code, Reason: reason}))
}

// blame is for launchers: the root notices failed ranks itself.
func (v *visitor) blame(int) {}

func (v *visitor) cancel(reason string) {
	v.over()
	_ = v.send(frameFailed, []byte(reason)) // the root may have left before
	closeGently(v.conn)
}

func (v *visitor) finalize(context.Context) error {
	v.over()
	_ = v.send(frameBye, nil) // the root may have left before
	closeGently(v.conn)
	return nil
}
