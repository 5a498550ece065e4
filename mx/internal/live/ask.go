package live

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// mostAnswer bounds the bytes of an answer.
const mostAnswer = 64 << 20

// Socket is where a process says it serves. Anybody can have said so: Ask finds out.
type Socket struct {
	PID int // of whom the name says that it serves

	uid   int // whose process that is, as the name says
	name  string
	inode string
}

// User returns the number of the user whose process it is, as the name says.
func (s Socket) User() int { return s.uid }

// Peer is who has answered, or has kept whoever asked waiting, as the kernel knows it.
type Peer struct {
	UID, PID int // PID 0: it is of another namespace of processes
}

// Foreign reports whether it is the process of another user: what it answers is read as far as its user's Allowance goes.
func (p Peer) Foreign() bool { return p.UID != os.Geteuid() }

// Answer is what a process has said. The zero Peer with an error means that it is not known whose process it is.
type Answer struct {
	Text []byte
	Peer Peer
}

// Ask asks a process, and waits for the answer no longer than the bound.
func Ask(pid int, question string, bound time.Duration, a *Allowances) (Answer, error) {
	sockets, err := socketsOf(pid)
	if err != nil {
		return Answer{}, err
	}
	end := time.Now().Add(bound)
	err = ErrNotServing
	for _, s := range sockets {
		c, peer, failed := s.connect(end)
		if failed == nil && peer.Foreign() && peer.PID != pid {
			c.Close()
			failed = takenBy(peer)
		}
		if failed != nil {
			if !errors.Is(err, ErrTaken) || !errors.Is(failed, ErrTaken) {
				err = failed
			}
			continue
		}
		answer, failed := converse(c, peer, question, end, a)
		if failed == nil {
			return answer, nil
		}
		err = failed
	}
	return Answer{}, err
}

// Ask is Ask for a process whose socket is known. It waits until a time.
func (s Socket) Ask(question string, end time.Time, a *Allowances) (Answer, error) {
	c, peer, err := s.connect(end)
	if err != nil {
		return Answer{}, err
	}
	return converse(c, peer, question, end, a)
}

// connect connects to a socket, and says who listens. A connection is made, or refused, at once.
func (s Socket) connect(end time.Time) (net.Conn, Peer, error) {
	c, err := (&net.Dialer{Deadline: end}).Dial("unix", s.name)
	switch {
	case err != nil && isTimeout(err):
		return nil, Peer{}, s.whyFull()
	case err != nil:
		return nil, Peer{}, ErrVanished
	}
	peer, ok := peerOf(c)
	switch {
	case !ok || peer.UID != s.uid && os.Geteuid() == root:
		err = takenBy(peer)
	case peer.Foreign() && os.Geteuid() != root:
		err = ErrOtherUser
		if s.uid == os.Geteuid() {
			err = takenBy(peer)
		}
	default:
		return c, peer, nil
	}
	c.Close()
	return nil, Peer{}, err
}

func takenBy(p Peer) error { return fmt.Errorf("%w by process %d of user %d", ErrTaken, p.PID, p.UID) }

// converse asks whoever is at the other end, and closes the connection.
func converse(c net.Conn, peer Peer, question string, end time.Time, a *Allowances) (Answer, error) {
	defer c.Close()
	_ = c.SetDeadline(end)
	r := io.LimitReader(c, mostAnswer)
	if peer.Foreign() {
		r = a.of(peer.UID).reader(r)
	}
	_, err := io.WriteString(c, question+"\n")
	if err == nil {
		var text []byte
		if text, err = io.ReadAll(r); err == nil && len(text) > 0 {
			if err = a.charge(peer, text); err == nil {
				return Answer{text, peer}, nil
			}
		}
	}
	switch {
	case errors.Is(err, ErrTooLarge):
		return Answer{Peer: peer}, err
	case isTimeout(err):
		return Answer{Peer: peer}, ErrNoAnswer
	}
	return Answer{Peer: peer}, ErrVanished
}

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) || os.IsTimeout(err) }
