package mx

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"gomx/endpoint"
)

// environment is what the MX_* variables say.
type environment struct {
	transports    []string
	eager         int
	copyLimit     int
	unexpBytes    int
	unexpHeaders  int
	unexpReserve  int
	strangers     int
	pieceBytes    int
	backlog       int
	timeout       time.Duration
	answerTimeout time.Duration
	spin          time.Duration
	noShm         bool
	noSelf        bool
	noSingleCopy  bool
	noArena       bool
	fatal         bool
	anyEndpoint   int
	rdma          rdmaSettings
	log           string
	logger        *slog.Logger // nil: nothing is logged
	stats         statistics
	trace         tracing
	live          bool
	network
}

// Variable describes one environment variable.
type Variable struct {
	Name    string `json:"name"`
	Default string `json:"default"`
	Value   string `json:"value"`  // the effective value
	Source  string `json:"source"` // "default" or "environment"
	Help    string `json:"help"`
}

// variable binds a name to a field of the environment.
type variable struct {
	name, help string
	show       func(e *environment) string
	set        func(e *environment, s string) error
	secret     bool // the value is never shown
}

func defaultEnvironment() environment {
	return environment{
		eager: -1, copyLimit: -1, unexpBytes: endpoint.DefaultUnexpectedBytes, unexpHeaders: endpoint.DefaultUnexpectedHeaders,
		unexpReserve: endpoint.DefaultUnexpectedReserve, strangers: endpoint.DefaultStrangers, pieceBytes: endpoint.DefaultPieceBytes,
		backlog: endpoint.DefaultBacklog, answerTimeout: time.Duration(endpoint.DefaultAnswerTimeout) * time.Millisecond,
		timeout: 1000 * time.Second,
		spin:    50 * time.Microsecond, anyEndpoint: -1, log: logOff, stats: statistics{text: logOff}, live: true,
		trace: tracing{bytes: defaultTraceBytes}, rdma: defaultRDMA(), network: defaultNetwork(),
	}
}

// variables is the one table of environment variables: reading, help and
// mx_info -env come from it.
var variables = slices.Concat(generalVariables, traceVariables, rdmaVariables, networkVariables)

var generalVariables = []variable{
	{name: "MX_TRANSPORT", help: "transports that endpoints use, in order of preference: shm, rdma, tcp, mem, self; auto: what works here",
		show: func(e *environment) string { return strings.Join(orAuto(e.transports), ",") },
		set:  func(e *environment, s string) error { return setTransports(&e.transports, s) }},
	{name: "MX_DISABLE_SHMEM", help: "1: messages to processes on the same host don't use shared memory",
		show: func(e *environment) string { return bit(e.noShm) },
		set:  func(e *environment, s string) error { return setBit(&e.noShm, s) }},
	{name: "MX_DISABLE_SELF", help: "1: messages of an endpoint to itself travel like those to others",
		show: func(e *environment) string { return bit(e.noSelf) },
		set:  func(e *environment, s string) error { return setBit(&e.noSelf, s) }},
	{name: "MX_EAGER", help: fmt.Sprintf("largest message sent eagerly, bytes, from 0 to %d; -1: what the transport advises; smaller than 1024 counts as 1023", messageSpan.most),
		show: func(e *environment) string { return strconv.Itoa(e.eager) },
		set:  func(e *environment, s string) error { return setSize(&e.eager, s, messageSpan) }},
	{name: "MX_COPY_LIMIT", help: fmt.Sprintf("largest message an endpoint takes eagerly from its peers, bytes, from 0 to %d; -1: any", messageSpan.most),
		show: func(e *environment) string { return strconv.Itoa(e.copyLimit) },
		set:  func(e *environment, s string) error { return setSize(&e.copyLimit, s, messageSpan) }},
	{name: "MX_UNEXP_BYTES", help: fmt.Sprintf("bound of an endpoint's unexpected messages, bytes, %v; beyond it only headers travel", unexpBytesSpan),
		show: func(e *environment) string { return strconv.Itoa(e.unexpBytes) },
		set:  func(e *environment, s string) error { return setSize(&e.unexpBytes, s, unexpBytesSpan) }},
	{name: "MX_UNEXP_HEADERS", help: fmt.Sprintf("bound of the headers of unexpected messages whose bytes are with their senders, %v; beyond it senders wait", unexpHeadersSpan),
		show: func(e *environment) string { return strconv.Itoa(e.unexpHeaders) },
		set:  func(e *environment, s string) error { return setSize(&e.unexpHeaders, s, unexpHeadersSpan) }},
	{name: "MX_UNEXP_RESERVE", help: fmt.Sprintf("what each peer may send of unexpected messages beside that, bytes, %v", unexpReserveSpan),
		show: func(e *environment) string { return strconv.Itoa(e.unexpReserve) },
		set:  func(e *environment, s string) error { return setSize(&e.unexpReserve, s, unexpReserveSpan) }},
	{name: "MX_STRANGERS", help: fmt.Sprintf("bound of the links of those who have dialled an endpoint and are not connected yet, %v; the oldest is given up for a new one", strangersSpan),
		show: func(e *environment) string { return strconv.Itoa(e.strangers) },
		set:  func(e *environment, s string) error { return setSize(&e.strangers, s, strangersSpan) }},
	{name: "MX_BACKLOG", help: fmt.Sprintf("connection requests that wait for the answer of a program that listens, %v; further ones are refused", backlogSpan),
		show: func(e *environment) string { return strconv.Itoa(e.backlog) },
		set:  func(e *environment, s string) error { return setSize(&e.backlog, s, backlogSpan) }},
	{name: "MX_ANSWER_TIMEOUT", help: "time that a program which listens has to answer a connection request; at least 1ms",
		show: func(e *environment) string { return e.answerTimeout.String() },
		set:  func(e *environment, s string) error { return setDuration(&e.answerTimeout, s, checkRequestTimeout) }},
	{name: "MX_PIECES_BYTES", help: fmt.Sprintf("bound of an endpoint's messages that are retransmitted in pieces after a link has broken, bytes, %v", piecesSpan),
		show: func(e *environment) string { return strconv.Itoa(e.pieceBytes) },
		set:  func(e *environment, s string) error { return setSize(&e.pieceBytes, s, piecesSpan) }},
	{name: "MX_REQUEST_TIMEOUT", help: "time after which a peer that requests wait for, and that does not move, is given up; at least 1ms",
		show: func(e *environment) string { return e.timeout.String() },
		set:  func(e *environment, s string) error { return setDuration(&e.timeout, s, checkRequestTimeout) }},
	{name: "MX_SPIN", help: "longest time a waiting call spins before it sleeps; 0: sleep at once",
		show: func(e *environment) string { return e.spin.String() },
		set:  func(e *environment, s string) error { return setDuration(&e.spin, s, checkSpin) }},
	{name: "MX_SINGLE_COPY", help: "0: large messages are not read out of the sender's memory, but sent through the ring",
		show: func(e *environment) string { return bit(!e.noSingleCopy) },
		set:  func(e *environment, s string) error { return setNotBit(&e.noSingleCopy, s) }},
	{name: "MX_ARENA", help: "0: peers' mx.Alloc memory is not mapped",
		show: func(e *environment) string { return bit(!e.noArena) },
		set:  func(e *environment, s string) error { return setNotBit(&e.noArena, s) }},
	{name: "MX_ERRORS_ARE_FATAL", help: "1: a failing call of package mx prints the error and ends the process, unless the program has set a handler",
		show: func(e *environment) string { return bit(e.fatal) },
		set:  func(e *environment, s string) error { return setBit(&e.fatal, s) }},
	{name: "MX_ANY_ENDPOINT", help: "endpoint id that AnyEndpoint stands for; -1: a free one",
		show: func(e *environment) string { return strconv.Itoa(e.anyEndpoint) },
		set:  func(e *environment, s string) error { return setEndpointID(&e.anyEndpoint, s) }},
	{name: "MX_LOG", help: "what endpoints log to the standard error, unless the program has given them a logger: off, error, warn, info or debug",
		show: func(e *environment) string { return e.log },
		set:  func(e *environment, s string) error { return e.setLog(s) }},
	{name: "MX_STATS", help: "when an endpoint's counters are printed to the standard error: close, usr1 for each signal SIGUSR1, every so often such as 10s (at least 10ms), or several with commas; off: never",
		show: func(e *environment) string { return e.stats.text },
		set:  func(e *environment, s string) error { return e.stats.set(s) }},
	{name: "MX_LIVE", help: "0: tools of the same user, such as mx_endpoint_info and mx_counters, can't read this process",
		show: func(e *environment) string { return bit(e.live) },
		set:  func(e *environment, s string) error { return setBit(&e.live, s) }},
}

// Environment returns every variable with its default, its effective value, and
// where that comes from. A variable whose value makes no sense is an error that
// names it. Init need not have been called. Safe from any goroutine.
func Environment() ([]Variable, error) {
	env, err := readEnvironment()
	plain := defaultEnvironment()
	var all []Variable
	for _, v := range variables {
		out := Variable{Name: v.name, Default: v.show(&plain), Value: v.show(&env), Source: "default", Help: v.help}
		if os.Getenv(v.name) != "" || out.Value != out.Default { // by another variable
			out.Source = "environment"
		}
		all = append(all, out)
	}
	return all, err
}

func readEnvironment() (environment, error) {
	e := defaultEnvironment()
	for _, v := range variables {
		s := os.Getenv(v.name)
		if s == "" {
			continue
		}
		if err := v.set(&e, s); err != nil {
			if v.secret {
				return e, fmt.Errorf("%s: %w (%s)", v.name, err, v.help)
			}
			return e, fmt.Errorf("%s=%q: %w (%s)", v.name, s, err, v.help)
		}
	}
	return e, nil
}

func orAuto(list []string) []string {
	if len(list) == 0 {
		return []string{"auto"}
	}
	return list
}

func setTransports(to *[]string, s string) error {
	if s == "auto" {
		*to = nil
		return nil
	}
	list := strings.Split(s, ",")
	if err := checkTransports(list); err != nil {
		return err
	}
	*to = list
	return nil
}

func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func setBit(to *bool, s string) error {
	b, err := strconv.ParseBool(s)
	if err != nil {
		return fmt.Errorf("want 0 or 1")
	}
	*to = b
	return nil
}

func setNotBit(to *bool, s string) error {
	err := setBit(to, s)
	*to = !*to
	return err
}

// setSize reads a number, with an optional K, M or G.
func setSize(to *int, s string, in span) error {
	n, err := parseSize(s)
	if err == nil {
		err = in.check(n)
	}
	if err != nil {
		return fmt.Errorf("want a number %v, or one with K, M or G", in)
	}
	*to = n
	return nil
}

func parseSize(s string) (int, error) {
	shift := 0
	switch {
	case strings.HasSuffix(s, "K"):
		shift = 10
	case strings.HasSuffix(s, "M"):
		shift = 20
	case strings.HasSuffix(s, "G"):
		shift = 30
	}
	if shift > 0 {
		s = s[:len(s)-1]
	}
	n, err := strconv.Atoi(s)
	if err == nil && n<<shift>>shift != n {
		err = strconv.ErrRange
	}
	return n << shift, err
}

// setDuration reads 50us, 2s and the like, or a plain number of seconds.
func setDuration(to *time.Duration, s string, check func(time.Duration) error) error {
	d, err := time.ParseDuration(s)
	if err != nil {
		n, numErr := strconv.ParseUint(s, 10, 31)
		if numErr != nil {
			return fmt.Errorf("want a duration such as 50us, 100ms or 30s")
		}
		d = time.Duration(n) * time.Second
	}
	if err := check(d); err != nil {
		return err
	}
	*to = d
	return nil
}

// setEndpointID reads an endpoint id, or -1 for none.
func setEndpointID(to *int, s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < -1 || n >= MaxEndpoints {
		return fmt.Errorf("want an endpoint id below %d, or -1", MaxEndpoints)
	}
	*to = n
	return nil
}
