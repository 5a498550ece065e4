package launch

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
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

// variable binds a name to a field of the settings.
type variable struct {
	name, help string
	show       func(s *settings) string
	set        func(s *settings, text string) error
}

const unset = "none"

func defaultSettings() settings {
	return settings{rank: -1, size: -1, answer: time.Minute, meet: 5 * time.Minute}
}

var variables = []variable{
	{name: "MX_RANK", help: "rank of this process, for launchers that don't speak PMI; with MX_SIZE and MX_ROOT",
		show: func(s *settings) string { return numberOrUnset(s.rank) },
		set:  func(s *settings, text string) error { return setNumber(&s.rank, text, 0) }},
	{name: "MX_SIZE", help: "number of ranks, for launchers that don't speak PMI",
		show: func(s *settings) string { return numberOrUnset(s.size) },
		set:  func(s *settings, text string) error { return setNumber(&s.size, text, 1) }},
	{name: "MX_ROOT", help: "host:port where rank 0 listens and the other ranks find it",
		show: func(s *settings) string {
			if s.root == "" {
				return unset
			}
			return s.root
		},
		set: func(s *settings, text string) error {
			s.root = text
			_, _, err := splitRoot(text)
			return err
		}},
	{name: "MX_SINGLETON", help: "1: a job of this one process, whatever the launcher says",
		show: func(s *settings) string { return bit(s.singleton) },
		set:  func(s *settings, text string) error { return setBit(&s.singleton, text) }},
	{name: "MX_NOLOCAL", help: "1: ranks of a host behave as if each were on a host of its own",
		show: func(s *settings) string { return bit(s.noLocal) },
		set:  func(s *settings, text string) error { return setBit(&s.noLocal, text) }},
	{name: "MX_CLIQUES", help: "number of parts into which the ranks of a host fall, as if each were a host; 0: none",
		show: func(s *settings) string { return strconv.Itoa(s.cliques) },
		set:  func(s *settings, text string) error { return setNumber(&s.cliques, text, 0) }},
	{name: "MX_LAUNCH_TIMEOUT", help: "time that the launcher has to answer",
		show: func(s *settings) string { return s.answer.String() },
		set:  func(s *settings, text string) error { return setTime(&s.answer, text) }},
	{name: "MX_MEET_TIMEOUT", help: "time that the other ranks have to come when a job starts",
		show: func(s *settings) string { return s.meet.String() },
		set:  func(s *settings, text string) error { return setTime(&s.meet, text) }},
}

// Environment returns the variables that Find reads, with default, effective value and where that
// comes from. A value that makes no sense is an error that names the variable. Safe from any
// goroutine.
func Environment() ([]Variable, error) {
	s, err := readSettings(os.Getenv)
	plain := defaultSettings()
	var all []Variable
	for _, v := range variables {
		out := Variable{Name: v.name, Default: v.show(&plain), Value: v.show(&s), Source: "default", Help: v.help}
		if os.Getenv(v.name) != "" {
			out.Source = "environment"
		}
		all = append(all, out)
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
	for _, v := range variables {
		text := env(v.name)
		if text == "" {
			continue
		}
		if err := v.set(&s, text); err != nil {
			return s, fmt.Errorf("%s=%q: %w (%s)", v.name, text, err, v.help)
		}
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

func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func setBit(to *bool, text string) (err error) {
	if *to, err = strconv.ParseBool(text); err != nil {
		return errors.New("want 0 or 1")
	}
	return nil
}

// maxRanks is what fits into the 20 bits that a message has for its rank.
const maxRanks = 1 << 20

func setNumber(to *int, text string, least int) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > maxRanks {
		return fmt.Errorf("want a number from %d to %d", least, maxRanks)
	}
	*to = n
	return nil
}

// setTime reads 30s, 2m and the like, or a plain number of seconds.
func setTime(to *time.Duration, text string) error {
	if digits := strings.Trim(text, "0123456789") == ""; digits {
		text += "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return errors.New("want a duration above 0, such as 30s")
	}
	*to = d
	return nil
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
