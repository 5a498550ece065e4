package live

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"time"

	"gomx/internal/labels"
)

// What is answered has bounds, so that nobody can block a process.
const (
	mostAtOnce  = 4                // clients that a server serves; others wait
	busyBound   = time.Second / 4  // for one of them to be done, before one that waits is hung up on
	mostAsked   = 64               // bytes of a question
	askBound    = time.Second      // for a question to come
	answerBound = 2 * time.Second  // for an answer to go
	pauseOnFull = time.Second / 10 // when the process has no descriptor left
)

// root is the user who may read all processes.
const root = 0

// Errors of asking.
var (
	ErrNoProcess   = errors.New("there is no such process")
	ErrOtherUser   = errors.New("it belongs to another user")
	ErrNotServing  = errors.New("it has no endpoint open, or MX_LIVE=0")
	ErrNoAnswer    = errors.New("it does not answer: it is stopped, or very busy")
	ErrTaken       = errors.New("its name is held")
	ErrTooLarge    = errors.New("it answers with more than is read of another user's processes")
	ErrVanished    = errors.New("it has ended, or hung up, while it was read")
	ErrUnsupported = errors.New("this system has no way to read live processes")
)

// Server answers questions of other processes of the user.
type Server struct {
	l      net.Listener
	answer func(question string) []byte
	slots  chan struct{}
	ends   chan struct{} // closed by Close
	done   chan struct{}
}

// Serve begins to answer. Each answer is made in a goroutine of its own.
func Serve(answer func(question string) []byte) (*Server, error) {
	l, err := listen()
	if err != nil {
		return nil, err
	}
	s := &Server{l: l, answer: answer, slots: make(chan struct{}, mostAtOnce), ends: make(chan struct{}), done: make(chan struct{})}
	go labels.For("live").Func(s.accept)()
	return s, nil
}

// Close ends it. Answers that are on their way go on.
func (s *Server) Close() {
	close(s.ends)
	s.l.Close()
	<-s.done
}

func (s *Server) accept() {
	defer close(s.done)
	for {
		c, err := s.l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(pauseOnFull)
			continue
		}
		if p, ok := peerOf(c); !ok || p.UID != os.Geteuid() && p.UID != root {
			c.Close()
			continue
		}
		if s.admits() {
			go s.serve(c)
		} else {
			c.Close()
		}
	}
}

// admits waits until there is a slot for a client, but not for long.
func (s *Server) admits() bool {
	select {
	case s.slots <- struct{}{}:
		return true
	default:
	}
	bound := time.NewTimer(busyBound)
	defer bound.Stop()
	select {
	case s.slots <- struct{}{}:
		return true
	case <-bound.C:
	case <-s.ends:
	}
	return false
}

func (s *Server) serve(c net.Conn) {
	defer func() { <-s.slots }()
	defer c.Close()
	_ = c.SetReadDeadline(time.Now().Add(askBound))
	question, err := bufio.NewReaderSize(io.LimitReader(c, mostAsked), mostAsked).ReadString('\n')
	if err != nil {
		return
	}
	answer := s.answer(question[:len(question)-1])
	_ = c.SetWriteDeadline(time.Now().Add(answerBound))
	_, _ = c.Write(answer) // whoever asked may have gone
}
