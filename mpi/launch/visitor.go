package launch

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
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

// Pauses between attempts to reach rank 0, which may not have started yet.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = time.Second
)

func (p *place) visit(s *settings) (*visitor, error) {
	ctx, cancel := context.WithTimeout(context.Background(), s.meet)
	defer cancel()
	var nonce [nonceSize]byte
	_, _ = rand.Read(nonce[:]) // never fails
	pause := firstPause
	var last error
	for {
		for _, port := range p.ports {
			c, err := p.dial(ctx, s, port, nonce[:])
			if err == nil {
				return newVisitor(p, s, c), nil
			}
			if no := refused(0); errors.As(err, &no) && no.final() {
				return nil, fmt.Errorf("%s: %w", p.hostPort(port), err)
			}
			if ctx.Err() == nil || last == nil {
				last = fmt.Errorf("%s: %w", p.hostPort(port), err)
			}
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return nil, fmt.Errorf("rank 0 was not found within %v: %w", s.meet, last)
		}
		pause = min(2*pause, lastPause)
	}
}

func (p *place) hostPort(port int) string { return net.JoinHostPort(p.host, strconv.Itoa(port)) }

func (p *place) dial(ctx context.Context, s *settings, port int, nonce []byte) (net.Conn, error) {
	d := net.Dialer{Timeout: helloTime}
	c, err := d.DialContext(ctx, "tcp", p.hostPort(port))
	if err != nil {
		return nil, err
	}
	if err := p.knock(s, c, nonce); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
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

func (v *visitor) finalize(context.Context) error {
	v.over()
	_ = v.say(frameBye, nil) // the root may have left before
	closeGently(v.conn)
	return nil
}
