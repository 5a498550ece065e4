package pmi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Server is the side of the launcher, for the ranks of one host.
type Server struct {
	name   string
	size   int
	events Events

	mu      sync.Mutex
	keys    map[string]string
	ranks   []member
	waiting int // ranks in the barrier
	broken  bool
}

// Events are what a server makes known, from the goroutines of ranks. nil: nobody wants to know.
type Events struct {
	// Abort is called when a rank asks for the end of the job.
	Abort func(rank, code int, reason string)
	// Blame is called when a rank says that it misses another one, which has gone before its time.
	Blame func(rank, gone int)
	// Stuck is called once, when a rank waits in a barrier for one that has left.
	Stuck func(waits, gone int)
}

type member struct {
	conn      net.Conn
	greeted   bool // it speaks PMI: its end without finalize is a failure
	finalized bool
	waiting   bool
	left      bool // its connection has ended
}

// bounds that the server names, and keeps.
const (
	maxName  = 256
	maxKey   = 64
	maxValue = 1024
)

// answerTimeout is how long a rank may take to read its answers.
const answerTimeout = 5 * time.Second

// NewServer returns the server of a job with so many ranks. Names of jobs must differ on a host.
func NewServer(name string, size int, events Events) *Server {
	s := &Server{name: name, size: size, events: events, ranks: make([]member, size), keys: map[string]string{}}
	s.keys["PMI_process_mapping"] = fmt.Sprintf("(vector,(0,1,%d))", size)
	return s
}

// Serve answers a rank until its connection ends or makes no sense, and closes it. Ranks are served
// each by a goroutine of its own.
func (s *Server) Serve(rank int, c net.Conn) error {
	defer s.leave(rank, c)
	s.mu.Lock()
	s.ranks[rank].conn = c
	s.mu.Unlock()
	r := bufio.NewReader(c)
	for {
		text, err := readLine(r, longestAnswer)
		var l line
		if err == nil {
			l, err = parseLine(text)
		}
		if err == nil {
			err = s.obey(rank, &l)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("rank %d: %w", rank, err)
		}
	}
}

// Greeted reports whether a rank has spoken PMI, Finalized whether it has taken leave. Safe from
// any goroutine.
func (s *Server) Greeted(rank int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ranks[rank].greeted
}

// Finalized reports whether a rank has taken leave. Safe from any goroutine.
func (s *Server) Finalized(rank int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ranks[rank].finalized
}

func (s *Server) obey(rank int, l *line) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &s.ranks[rank]
	if m.finalized && l.name != "blame" { // which comes when it will
		return fmt.Errorf("it says %q after finalize", shown(l.text))
	}
	switch l.name {
	case "init":
		m.greeted = true
		if l.values["pmi_version"] != "1" {
			return s.tell(rank, "cmd=response_to_init rc=-1 msg=this_launcher_speaks_1.1 pmi_version=1 pmi_subversion=1")
		}
		return s.tell(rank, "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1")
	case "get_maxes":
		return s.tell(rank, fmt.Sprintf("cmd=maxes rc=0 kvsname_max=%d keylen_max=%d vallen_max=%d", maxName, maxKey, maxValue))
	case "get_my_kvsname":
		return s.tell(rank, "cmd=my_kvsname rc=0 kvsname="+s.name)
	case "get_universe_size":
		return s.tell(rank, fmt.Sprintf("cmd=universe_size rc=0 size=%d", s.size))
	case "get_appnum":
		return s.tell(rank, "cmd=appnum rc=0 appnum=0")
	case "put":
		return s.tell(rank, s.put(l))
	case "get":
		return s.tell(rank, s.get(l))
	case "barrier_in":
		return s.barrier(rank)
	case "finalize":
		m.finalized = true
		return s.tell(rank, "cmd=finalize_ack rc=0")
	case "abort":
		return s.abort(rank, l)
	case "blame":
		return s.blame(rank, l)
	}
	return fmt.Errorf("it says %q, which this launcher does not know", shown(l.text))
}

// tell answers a rank. The error is io.EOF if its connection has ended.
func (s *Server) tell(rank int, text string) error {
	c := s.ranks[rank].conn
	_ = c.SetWriteDeadline(time.Now().Add(answerTimeout))
	_, err := io.WriteString(c, text+"\n")
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return io.EOF
	}
	return err
}

func (s *Server) put(l *line) string {
	key, value := l.values["key"], l.values["value"]
	switch _, twice := s.keys[key]; {
	case l.values["kvsname"] != s.name:
		return "cmd=put_result rc=-1 msg=no_such_kvsname"
	case key == "" || len(key) > maxKey || len(value) > maxValue:
		return "cmd=put_result rc=-1 msg=too_long"
	case twice:
		return "cmd=put_result rc=-1 msg=duplicate_key"
	}
	s.keys[key] = value
	return "cmd=put_result rc=0 msg=success"
}

func (s *Server) get(l *line) string {
	value, ok := s.keys[l.values["key"]]
	switch {
	case l.values["kvsname"] != s.name:
		return "cmd=get_result rc=-1 msg=no_such_kvsname"
	case !ok:
		return "cmd=get_result rc=-1 msg=key_not_found"
	}
	return "cmd=get_result rc=0 msg=success value=" + value
}

// barrier answers all ranks when the last one has come.
func (s *Server) barrier(rank int) error {
	m := &s.ranks[rank]
	if m.waiting {
		return fmt.Errorf("it says barrier_in twice")
	}
	m.waiting = true
	if s.waiting++; s.waiting < s.size {
		s.breakBarrier()
		return nil
	}
	s.waiting = 0
	for i := range s.ranks {
		s.ranks[i].waiting = false
		// Whoever can't hear it has ended, which its own goroutine notices.
		_ = s.tell(i, "cmd=barrier_out rc=0")
	}
	return nil
}

// breakBarrier complains if ranks wait for one that will not come. Called with mu held.
func (s *Server) breakBarrier() {
	gone := slices.IndexFunc(s.ranks, func(m member) bool { return m.left })
	if s.waiting == 0 || gone < 0 || s.broken || s.events.Stuck == nil {
		return
	}
	s.broken = true
	waits := slices.IndexFunc(s.ranks, func(m member) bool { return m.waiting })
	s.mu.Unlock()
	defer s.mu.Lock()
	s.events.Stuck(waits, gone)
}

func (s *Server) leave(rank int, c net.Conn) {
	_ = c.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ranks[rank].left = true
	s.breakBarrier()
}

func (s *Server) abort(rank int, l *line) error {
	code, err := strconv.Atoi(l.values["exitcode"])
	if err != nil {
		code = 1
	}
	reason := l.values["message"]
	if !strings.Contains(reason, " ") {
		reason = strings.ReplaceAll(reason, "_", " ") // our client has made one word of it
	}
	if s.events.Abort == nil {
		return nil
	}
	s.mu.Unlock()
	defer s.mu.Lock()
	s.events.Abort(rank, code, reason)
	return nil
}

func (s *Server) blame(rank int, l *line) error {
	gone, err := strconv.Atoi(l.values["rank"])
	if err != nil || gone < 0 || gone >= s.size || gone == rank {
		return fmt.Errorf("it says %q, and there is no such other rank", shown(l.text))
	}
	if s.events.Blame == nil {
		return nil
	}
	s.mu.Unlock()
	defer s.mu.Lock()
	s.events.Blame(rank, gone)
	return nil
}

// Keys returns what ranks have put, in no order. Safe from any goroutine.
func (s *Server) Keys() (keys []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key := range s.keys {
		keys = append(keys, key)
	}
	return keys
}

// Hangup ends the connection with a rank. Safe from any goroutine.
func (s *Server) Hangup(rank int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.ranks[rank].conn; c != nil {
		_ = c.Close()
	}
}

// AnyGreeted reports whether some rank has spoken PMI. Safe from any goroutine.
func (s *Server) AnyGreeted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.ranks, func(m member) bool { return m.greeted })
}
