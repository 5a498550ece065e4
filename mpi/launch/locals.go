package launch

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"runtime"
	"slices"
	"sync"
	"time"
)

// circle is the ranks of one host, as one of them sees it. Whoever binds a certain abstract socket
// first is the leader, and the others hand in their cards there. The name of the socket and the
// proofs that both sides show come from the job's nonce, so that nobody else can take either part.
type circle struct {
	nonce []byte

	listener net.Listener // of the leader
	closed   sync.WaitGroup

	mu      sync.Mutex
	seats   []seat            // of the leader: who has handed in a card; its own comes first
	talking map[net.Conn]bool // who has not handed in a card
	shut    bool

	toLeader net.Conn // of a member
}

type seat struct {
	rank int
	card []byte
	conn net.Conn // nil: the leader itself
}

// Bounds of the talk on a host.
const (
	talkTime    = 10 * time.Second
	lookingTime = 2 * time.Second      // from the bind of the leader to its listen
	lookingStep = 2 * time.Millisecond // between two attempts
)

func (c *circle) leads() bool  { return c.listener != nil }
func (c *circle) member() bool { return c.toLeader != nil }

// join makes this rank the leader of its host, or hands its card to the leader. If neither works it
// is alone, and its card gets a key of its own.
func (k *keys) join(ctx context.Context, card []byte) *circle {
	c := &circle{nonce: k.nonce, talking: map[net.Conn]bool{}}
	if runtime.GOOS != "linux" { // others have no abstract sockets
		return c
	}
	place := "@gomx-" + hex.EncodeToString(c.proof("place", k.host, k.epoch)[:16])
	l, err := net.Listen("unix", place)
	if err == nil {
		c.listener = l
		c.seats = []seat{{rank: k.rank, card: nonNil(card)}}
		c.closed.Add(1)
		go c.accept(k)
		return c
	}
	_ = c.handIn(ctx, k, place, card) // without, the card goes another way
	return c
}

func (c *circle) proof(of, host string, epoch int) []byte {
	m := hmac.New(sha256.New, c.nonce)
	m.Write(binary.LittleEndian.AppendUint32([]byte(of), uint32(epoch)))
	m.Write([]byte(host))
	return m.Sum(nil)
}

func (c *circle) accept(k *keys) {
	defer c.closed.Done()
	for {
		conn, err := c.listener.Accept()
		if err != nil {
			return
		}
		if !c.admit(conn) {
			continue
		}
		c.closed.Add(1)
		go func() {
			defer c.closed.Done()
			if err := c.seat(k, conn); err != nil {
				_ = conn.Close()
			}
			c.mu.Lock()
			delete(c.talking, conn)
			c.mu.Unlock()
		}()
	}
}

// admit begins the talk with somebody, unless the circle is closed.
func (c *circle) admit(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shut {
		_ = conn.Close()
		return false
	}
	_ = conn.SetDeadline(time.Now().Add(talkTime))
	c.talking[conn] = true
	return true
}

// close lets nobody in any more, and does not wait for strangers that say nothing.
func (c *circle) close() {
	_ = c.listener.Close()
	c.mu.Lock()
	c.shut = true
	for conn := range c.talking {
		_ = conn.SetDeadline(time.Unix(1, 0)) // long past
	}
	c.mu.Unlock()
	c.closed.Wait()
}

// seat takes a card from a member.
func (c *circle) seat(k *keys, conn net.Conn) error {
	if _, err := conn.Write(c.proof("leader", k.host, k.epoch)); err != nil {
		return err
	}
	head := make([]byte, sha256.Size+8)
	if _, err := io.ReadFull(conn, head); err != nil {
		return err
	}
	if !hmac.Equal(head[:sha256.Size], c.proof("member", k.host, k.epoch)) {
		return errors.New("a stranger")
	}
	rank := binary.LittleEndian.Uint32(head[sha256.Size:])
	length := binary.LittleEndian.Uint32(head[sha256.Size+4:])
	if rank >= uint32(k.size) || length > MaxCard {
		return errors.New("no rank of this job")
	}
	card := make([]byte, length)
	if _, err := io.ReadFull(conn, card); err != nil {
		return err
	}
	c.mu.Lock()
	c.seats = append(c.seats, seat{rank: int(rank), card: card, conn: conn})
	c.mu.Unlock()
	_, err := conn.Write([]byte{1})
	return err
}

// handIn gives the card to the leader. The leader may have bound its socket and not yet listen.
func (c *circle) handIn(ctx context.Context, k *keys, place string, card []byte) error {
	ctx, cancel := context.WithTimeout(ctx, lookingTime)
	defer cancel()
	step := time.NewTicker(lookingStep)
	defer step.Stop()
	var d net.Dialer
	for {
		conn, err := d.DialContext(ctx, "unix", place)
		if err == nil {
			if err = c.introduce(k, conn, card); err != nil {
				_ = conn.Close()
				return err
			}
			c.toLeader = conn
			return nil
		}
		select {
		case <-step.C:
		case <-ctx.Done():
			return err
		}
	}
}

func (c *circle) introduce(k *keys, conn net.Conn, card []byte) error {
	_ = conn.SetDeadline(time.Now().Add(talkTime))
	shown := make([]byte, sha256.Size)
	if _, err := io.ReadFull(conn, shown); err != nil {
		return err
	}
	if !hmac.Equal(shown, c.proof("leader", k.host, k.epoch)) {
		return errors.New("not the leader")
	}
	said := c.proof("member", k.host, k.epoch)
	said = binary.LittleEndian.AppendUint32(said, uint32(k.rank))
	said = binary.LittleEndian.AppendUint32(said, uint32(len(card)))
	if _, err := conn.Write(append(said, card...)); err != nil {
		return err
	}
	_, err := io.ReadFull(conn, shown[:1])
	return err
}

// cards closes the circle, and returns the cards of those in it. Called when all ranks of the job
// have handed in theirs or have given up.
func (c *circle) cards(size int) [][]byte {
	c.close()
	cards := make([][]byte, size)
	for _, s := range c.seats {
		cards[s.rank] = s.card
	}
	return cards
}

// tell hands the cards of all ranks to the members. One that can't be told gets them from the
// launcher.
func (c *circle) tell(all [][]byte) {
	packed := packCards(all)
	message := append(binary.LittleEndian.AppendUint32(nil, uint32(len(packed))), packed...)
	for _, s := range c.seats {
		if s.conn != nil {
			_ = s.conn.SetDeadline(time.Now().Add(talkTime))
			_, _ = s.conn.Write(message)
		}
	}
}

// hear waits for the cards of all ranks. Where the leader fails, the error says so, and all is as
// it was.
func (c *circle) hear(ctx context.Context, all [][]byte) error {
	stop := context.AfterFunc(ctx, func() { _ = c.toLeader.Close() })
	defer stop()
	_ = c.toLeader.SetDeadline(time.Now().Add(talkTime))
	var head [4]byte
	if _, err := io.ReadFull(c.toLeader, head[:]); err != nil {
		return err
	}
	var packed bytes.Buffer
	length := int64(binary.LittleEndian.Uint32(head[:]))
	if _, err := io.CopyN(&packed, c.toLeader, min(length, longestBundle)); err != nil {
		return err
	}
	_, err := unpackCards(packed.Bytes(), all)
	if err == nil && slices.ContainsFunc(all, func(card []byte) bool { return card == nil }) {
		err = errors.New("cards are missing")
	}
	if err != nil {
		clear(all)
	}
	return err
}

// leave closes what is open.
func (c *circle) leave() {
	if c.listener != nil {
		c.close()
	}
	if c.toLeader != nil {
		_ = c.toLeader.Close()
	}
	for _, s := range c.seats {
		if s.conn != nil {
			_ = s.conn.Close()
		}
	}
}
