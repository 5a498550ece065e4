package launch

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// Ranks without a launcher that speaks PMI meet at rank 0, over TCP. Each rank keeps its connection until it finalizes, so
// that aborts and failure notices reach all ranks. The handshake is, with numbers in little endian:
//
//	root     "gomxmeet", version 2, 16 random bytes
//	member   16 random bytes of its own, rank (4), size (4), proof (32)
//	root     verdict (1), size (4), proof (32)
//
// A proof is an HMAC, keyed with the secret of the job, over the name of the job and all earlier bytes of the handshake.
// Without a secret it only tells jobs apart. Frames follow the handshake: kind (1), length (4), payload.

const (
	greeting    = "gomxmeet\x02"
	nonceSize   = 16
	memberSize  = nonceSize + 8 + sha256.Size
	verdictSize = 5
	// handshakeTime bounds the handshake, up to the verdict.
	handshakeTime = 5 * time.Second
	// secondLook is how long a member whose time is over waits for a verdict that may be there already.
	secondLook = 100 * time.Millisecond
)

// verdict is the root's answer to a member's proof.
type verdict byte

const (
	welcome verdict = iota
	otherJob
	otherSize
	rankTaken
)

// The kinds of frames.
const (
	frameBusinessCard = 1 + iota // a member's business card
	frameTable                   // the business cards of all ranks
	frameAbort                   // code (4), rank (4), reason
	frameBye                     // the end of the connection is no failure
	frameDead                    // rank (4)
	frameFailed                  // why who says it can't go on
)

// longestFrame is the size limit of a frame in bytes.
const longestFrame = longestBundle

func (p *membership) proof(s *settings, said ...[]byte) []byte {
	m := hmac.New(sha256.New, s.secret)
	m.Write([]byte(p.job))
	for _, b := range said {
		m.Write(b)
	}
	return m.Sum(nil)
}

// introduction is the first message of a member, without the proof.
func (p *membership) introduction(nonce []byte) []byte {
	b := binary.LittleEndian.AppendUint32(append([]byte(nil), nonce...), uint32(p.rank))
	return binary.LittleEndian.AppendUint32(b, uint32(p.size))
}

// errMute is the error of a place where a connection is accepted, by the system alone.
var errMute = errors.New("the connection stands, but no greeting comes: the process there stands still, or is no rank 0 of gomx")

// hearGreeting is the first step of the handshake. It fails, and closes the connection, if the other side is not rank 0 of a gomx job.
func hearGreeting(c net.Conn) ([]byte, error) {
	_ = c.SetDeadline(time.Now().Add(handshakeTime))
	theirs := make([]byte, len(greeting)+nonceSize)
	_, err := io.ReadFull(c, theirs)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = errMute
	case err != nil:
		err = fmt.Errorf("no greeting: %w", err)
	case string(theirs[:len(greeting)]) != greeting:
		err = errors.New("somebody else listens there")
	default:
		return theirs, nil
	}
	_ = c.Close()
	return nil, err
}

// finishHandshake is the rest of the member's part of the handshake. It closes the connection if it fails.
func (p *membership) finishHandshake(s *settings, c *caller, nonce []byte) error {
	_ = c.conn.SetDeadline(time.Now().Add(handshakeTime))
	if err := p.introduce(s, c.conn, c.greeting, nonce); err != nil {
		_ = c.conn.Close()
		return err
	}
	return c.conn.SetDeadline(time.Time{})
}

func (p *membership) introduce(s *settings, c net.Conn, theirs, nonce []byte) error {
	mine := p.introduction(nonce)
	if _, err := c.Write(append(mine, p.proof(s, []byte("member"), theirs, mine)...)); err != nil {
		return err
	}
	answer := make([]byte, verdictSize+sha256.Size)
	n, err := io.ReadFull(c, answer)
	if errors.Is(err, os.ErrDeadlineExceeded) { // perhaps because this process stood still: the root took its end for that of the rank
		_ = c.SetDeadline(time.Now().Add(secondLook))
		_, err = io.ReadFull(c, answer[n:])
	}
	if err != nil {
		return fmt.Errorf("no verdict: %w", err)
	}
	said, proof := answer[:verdictSize], answer[verdictSize:]
	r := &refused{verdict: verdict(said[0]), rank: p.rank, size: p.size, roots: int(binary.LittleEndian.Uint32(said[1:]))}
	if !hmac.Equal(proof, p.proof(s, []byte("root"), theirs, mine, said)) {
		r.verdict = otherJob
	}
	if r.verdict == welcome {
		return nil
	}
	return r
}

// refused is the error of a rank that is not welcome.
type refused struct {
	verdict
	rank, size int // of this process
	roots      int // number of ranks that rank 0 counts
}

// Error is for package errors.
func (r *refused) Error() string {
	switch r.verdict {
	case otherSize:
		return fmt.Sprintf("rank 0 counts %d ranks, and this process %d: start all with the same number (MX_SIZE where they are started by hand)", r.roots, r.size)
	case rankTaken:
		return fmt.Sprintf("another process is rank %d already: start each with a rank of its own (MX_RANK where they are started by hand)", r.rank)
	}
	return "the process there belongs to another job, or has another secret"
}

// final reports whether trying again makes no sense.
func (r *refused) final() bool { return r.verdict == otherSize || r.verdict == rankTaken }

// open is the root's part of the handshake, up to the member's identity. The member then waits
// then.
func (p *membership) open(s *settings, c net.Conn) (who *peer, err error) {
	_ = c.SetDeadline(time.Now().Add(handshakeTime))
	mine := make([]byte, len(greeting)+nonceSize)
	copy(mine, greeting)
	_, _ = rand.Read(mine[len(greeting):]) // never fails
	if _, err := c.Write(mine); err != nil {
		return nil, err
	}
	theirs := make([]byte, memberSize)
	if _, err := io.ReadFull(c, theirs); err != nil {
		return nil, err
	}
	intro := theirs[:nonceSize+8]
	who = &peer{conn: c, rank: int(binary.LittleEndian.Uint32(intro[nonceSize:]))}
	who.size = int(binary.LittleEndian.Uint32(intro[nonceSize+4:]))
	copy(who.nonce[:], intro)
	who.answer = func(v verdict) error {
		said := binary.LittleEndian.AppendUint32([]byte{byte(v)}, uint32(p.size))
		_, err := c.Write(append(said, p.proof(s, []byte("root"), mine, intro, said)...))
		_ = c.SetDeadline(time.Time{})
		return err
	}
	if !hmac.Equal(theirs[nonceSize+8:], p.proof(s, []byte("member"), mine, intro)) {
		_ = who.answer(otherJob)
		return nil, &refused{verdict: otherJob}
	}
	return who, nil
}

// peer is the identity of a member whose proof was good, and its connection.
type peer struct {
	conn       net.Conn
	rank, size int
	nonce      [nonceSize]byte
	answer     func(v verdict) error
}

// writeFrame sends a frame with one write.
func writeFrame(c net.Conn, kind byte, payload []byte, limit time.Duration) error {
	_ = c.SetWriteDeadline(time.Now().Add(limit))
	b := binary.LittleEndian.AppendUint32([]byte{kind}, uint32(len(payload)))
	_, err := c.Write(append(b, payload...))
	return err
}

func readFrame(r io.Reader, longest uint32) (kind byte, payload []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	length := binary.LittleEndian.Uint32(head[1:])
	if length > longest {
		return 0, nil, fmt.Errorf("a frame of %d bytes", length)
	}
	payload, err = io.ReadAll(io.LimitReader(r, int64(length)))
	if err == nil && len(payload) < int(length) {
		err = io.ErrUnexpectedEOF
	}
	return head[0], payload, err
}

func abortFrame(a *Aborted) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(int32(a.Code)))
	b = binary.LittleEndian.AppendUint32(b, uint32(a.Rank))
	return append(b, a.Reason...)
}

func parseAbort(b []byte) *Aborted {
	if len(b) < 8 {
		return &Aborted{Code: 1}
	}
	return &Aborted{
		Code: int(int32(binary.LittleEndian.Uint32(b))), Rank: int(binary.LittleEndian.Uint32(b[4:])), Reason: string(b[8:]),
	}
}

// meet connects to the root, or becomes it.
func (p *membership) meet(s *settings) (*Job, error) {
	j := &Job{rank: p.rank, size: p.size, launcher: p.launcher, host: hostID(s, p.rank, p.size), secret: s.secret}
	var err error
	switch {
	case p.size == 1:
	case p.rank == 0:
		j.meeting, err = p.listen(s)
	default:
		j.meeting, err = p.visit(s)
	}
	if err != nil {
		return nil, j.failed("Find", fmt.Errorf("%w: %w", ErrNoWay, err))
	}
	return j, nil
}
