package launch

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"gomx/mpi/internal/variables"
)

// settings is what MX_* variables say about launching.
type settings struct {
	rank, size   int // -1: not said
	root         string
	singleton    bool
	noLocal      bool
	cliques      int
	answer, meet time.Duration
	secret       []byte // nil: none is given
}

// Variable describes one environment variable, as mx.Variable does.
type Variable struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	Value   string `json:"value"`  // the effective value
	Source  string `json:"source"` // "default" or "environment"
	Help    string `json:"help"`
}

const unset = "none"

func defaultSettings() settings {
	return settings{rank: -1, size: -1, answer: time.Minute, meet: 5 * time.Minute}
}

var table = []variables.Binding[settings]{
	{Name: "MX_RANK", Help: "rank of this process, for launchers that don't speak PMI; with MX_SIZE and MX_ROOT",
		Show: func(s *settings) string { return numberOrUnset(s.rank) },
		Set:  func(s *settings, text string) error { return setNumber(&s.rank, text, 0, maxRanks-1) }},
	{Name: "MX_SIZE", Help: "number of ranks, for launchers that don't speak PMI",
		Show: func(s *settings) string { return numberOrUnset(s.size) },
		Set:  func(s *settings, text string) error { return setNumber(&s.size, text, 1, maxRanks) }},
	{Name: "MX_ROOT", Help: "host:port where rank 0 listens and the other ranks find it",
		Show: func(s *settings) string {
			if s.root == "" {
				return unset
			}
			return s.root
		},
		Set: func(s *settings, text string) error {
			s.root = text
			_, _, err := splitRoot(text)
			return err
		}},
	{Name: "MX_SINGLETON", Help: "1: a job of this one process, whatever the launcher says",
		Show: func(s *settings) string { return variables.Bit(s.singleton) },
		Set:  func(s *settings, text string) error { return variables.SetBit(&s.singleton, text) }},
	{Name: "MX_NOLOCAL", Help: "1: ranks of a host behave as if each were on a host of its own",
		Show: func(s *settings) string { return variables.Bit(s.noLocal) },
		Set:  func(s *settings, text string) error { return variables.SetBit(&s.noLocal, text) }},
	{Name: "MX_CLIQUES", Help: "number of parts into which the ranks of a host fall, as if each were a host; 0: none",
		Show: func(s *settings) string { return strconv.Itoa(s.cliques) },
		Set:  func(s *settings, text string) error { return setNumber(&s.cliques, text, 0, maxRanks) }},
	{Name: "MX_LAUNCH_TIMEOUT", Help: "time that the launcher has to answer",
		Show: func(s *settings) string { return s.answer.String() },
		Set:  func(s *settings, text string) error { return setTime(&s.answer, text) }},
	{Name: "MX_MEET_TIMEOUT", Help: "time that the other ranks have to come when a job starts",
		Show: func(s *settings) string { return s.meet.String() },
		Set:  func(s *settings, text string) error { return setTime(&s.meet, text) }},
}

// Environment returns the variables that Find reads, with default, effective value and where that
// comes from. A value that makes no sense is an error that names the variable. Safe from any
// goroutine.
func Environment() ([]Variable, error) {
	s, err := readSettings(os.Getenv)
	plain := defaultSettings()
	var all []Variable
	for _, v := range variables.List(table, &plain, &s, os.Getenv) {
		all = append(all, Variable(v))
	}
	return all, err
}

// environ looks variables up, as os.Getenv does.
type environ func(name string) string

// number returns a variable that is a number of at least 0.
func (env environ) number(name string) (int, bool) {
	n, err := strconv.ParseUint(env(name), 10, 31)
	return int(n), err == nil
}

// first returns the first of some variables that is a number.
func (env environ) first(names ...string) (int, bool) {
	for _, name := range names {
		if n, ok := env.number(name); ok {
			return n, true
		}
	}
	return 0, false
}

func readSettings(env environ) (settings, error) {
	s := defaultSettings()
	if err := variables.Read(table, &s, env); err != nil {
		return s, err
	}
	return s, s.readSecret(env)
}

// readSecret takes the secret that mx takes as well, and has checked the rules of.
func (s *settings) readSecret(env environ) error {
	if name := env("MX_SECRET_FILE"); name != "" {
		text, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("MX_SECRET_FILE: %w", err)
		}
		s.secret = []byte(strings.TrimRight(string(text), "\r\n"))
	} else if text := env("MX_SECRET"); text != "" {
		s.secret = []byte(text)
	}
	return nil
}

func numberOrUnset(n int) string {
	if n < 0 {
		return unset
	}
	return strconv.Itoa(n)
}

// maxRanks is what fits into the 20 bits that a message has for its rank.
const maxRanks = 1 << 20

func setNumber(to *int, text string, least, most int) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		return fmt.Errorf("want a number from %d to %d", least, most)
	}
	*to = n
	return nil
}

func setTime(to *time.Duration, text string) (err error) {
	if *to, err = variables.Time(text); err == nil && *to == 0 {
		err = errors.New("want a duration above 0")
	}
	return err
}

// splitRoot takes host:port apart.
func splitRoot(text string) (host string, port int, err error) {
	at := strings.LastIndexByte(text, ':')
	if at < 0 {
		return "", 0, errors.New("want host:port")
	}
	host = strings.Trim(text[:at], "[]")
	port, err = strconv.Atoi(text[at+1:])
	if err != nil || port < 1 || port > lastPort || host == "" {
		return "", 0, fmt.Errorf("want host:port with a port from 1 to %d", lastPort)
	}
	return host, port, nil
}

const lastPort = 1<<16 - 1

// portsFrom returns the ports to try where the first may be taken.
func portsFrom(first, n int) (ports []int) {
	for port := first; port < first+n && port <= lastPort; port++ {
		ports = append(ports, port)
	}
	return slices.Clip(ports)
}
