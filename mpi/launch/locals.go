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

// circle is the group of the ranks of one host, as one of them sees it. The rank that binds a certain abstract socket first
// is the leader, and the other ranks, the members, send it their business cards. The name of the socket and the proofs of
// both sides are derived from the job's nonce, so that no other process can play either part.
type circle struct {
	nonce []byte

	listener net.Listener // of the leader
	closed   sync.WaitGroup

	mu      sync.Mutex
	seats   []seat            // of the leader: the ranks whose business cards it has; its own comes first
	talking map[net.Conn]bool // of the leader: connections without a business card so far
	shut    bool

	toLeader net.Conn // of a member
}

type seat struct {
	rank         int
	businessCard []byte
	conn         net.Conn // nil: the leader itself
}

// Time limits for the messages on a host.
const (
	talkTime    = 10 * time.Second
	lookingTime = 2 * time.Second      // from the bind of the leader to its listen
	lookingStep = 2 * time.Millisecond // between two attempts
)

func (c *circle) leads() bool  { return c.listener != nil }
func (c *circle) member() bool { return c.toLeader != nil }

// join makes this rank the leader of its host, or sends its business card to the leader. If neither works, the rank is
// alone, and its business card gets a key of its own.
func (k *keys) join(ctx context.Context, businessCard []byte) *circle {
	c := &circle{nonce: k.nonce, talking: map[net.Conn]bool{}}
	if runtime.GOOS != "linux" { // others have no abstract sockets
		return c
	}
	socket := "@gomx-" + hex.EncodeToString(c.proof("place", k.host, k.epoch)[:16])
	l, err := net.Listen("unix", socket)
	if err == nil {
		c.listener = l
		c.seats = []seat{{rank: k.rank, businessCard: nonNil(businessCard)}}
		c.closed.Add(1)
		go inLaunch.Func(func() { c.accept(k) })()
		return c
	}
	_ = c.handIn(ctx, k, socket, businessCard) // if it fails, the business card gets a key of its own
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

// admit registers a new connection, unless the circle is closed.
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

// close accepts no more members, and does not wait for connections that send nothing.
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

// seat receives a member's business card.
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
	if rank >= uint32(k.size) || length > MaxBusinessCard {
		return errors.New("no rank of this job")
	}
	businessCard := make([]byte, length)
	if _, err := io.ReadFull(conn, businessCard); err != nil {
		return err
	}
	c.mu.Lock()
	c.seats = append(c.seats, seat{rank: int(rank), businessCard: businessCard, conn: conn})
	c.mu.Unlock()
	_, err := conn.Write([]byte{1})
	return err
}

// handIn sends the business card to the leader. It tries again for a while, since the leader may have bound its socket
// and not listen yet.
func (c *circle) handIn(ctx context.Context, k *keys, socket string, businessCard []byte) error {
	ctx, cancel := context.WithTimeout(ctx, lookingTime)
	defer cancel()
	step := time.NewTicker(lookingStep)
	defer step.Stop()
	var d net.Dialer
	for {
		conn, err := d.DialContext(ctx, "unix", socket)
		if err == nil {
			if err = c.introduce(k, conn, businessCard); err != nil {
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

func (c *circle) introduce(k *keys, conn net.Conn, businessCard []byte) error {
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
	said = binary.LittleEndian.AppendUint32(said, uint32(len(businessCard)))
	if _, err := conn.Write(append(said, businessCard...)); err != nil {
		return err
	}
	_, err := io.ReadFull(conn, shown[:1])
	return err
}

// businessCards closes the circle, and returns the business cards of its ranks. It is called when all ranks of the job have
// sent theirs or have given up.
func (c *circle) businessCards(size int) [][]byte {
	c.close()
	businessCards := make([][]byte, size)
	for _, s := range c.seats {
		businessCards[s.rank] = s.businessCard
	}
	return businessCards
}

// tell sends the business cards of all ranks to the members. A member that does not receive them gets them from the
// launcher.
func (c *circle) tell(all [][]byte) {
	packed := packBusinessCards(all)
	message := append(binary.LittleEndian.AppendUint32(nil, uint32(len(packed))), packed...)
	for _, s := range c.seats {
		if s.conn != nil {
			_ = s.conn.SetDeadline(time.Now().Add(talkTime))
			_, _ = s.conn.Write(message)
		}
	}
}

// hear waits for the business cards of all ranks. If it fails, it returns an error and leaves all empty.
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
	_, err := unpackBusinessCards(packed.Bytes(), all)
	if err == nil && slices.ContainsFunc(all, func(businessCard []byte) bool { return businessCard == nil }) {
		err = errors.New("business cards are missing")
	}
	if err != nil {
		clear(all)
	}
	return err
}

// leave closes all connections.
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
