package endpointtest

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"gomx/endpoint"
	"gomx/transport/wire"
)

// Trace runs commands in a world and writes what happens.
type Trace struct {
	world    *World
	out      strings.Builder
	requests map[string]*traced
	windows  map[string]*tracedWindow
	claims   map[string]endpoint.Claim
	counters map[string]*tracedCounter
	sends    int
	quiet    bool // frames are not written
	filter   uint32
}

// traced is a request of a trace.
type traced struct {
	name   string
	node   *Node
	handle endpoint.Handle
	buffer *Buffer  // receives and gets
	seed   int      // sends and puts
	sent   wire.Vec // sends
	access *tracedAccess
	atomic *tracedAtomic

	answer  []byte // of a call
	visitor bool   // it is no request of the node's own
}

// command runs with its arguments and writes to the trace.
type command func(t *Trace, a *arguments) error

var commands = map[string]command{}

// family registers the commands of one file.
func family(of map[string]command) bool {
	for name, c := range of {
		if commands[name] != nil {
			panic("endpointtest: two commands " + name)
		}
		commands[name] = c
	}
	return true
}

// NewTrace returns a trace without a world; its first command makes one.
func NewTrace() *Trace { return emptyTrace() }

// Run executes a script and returns it with the output of each block put in: a
// block is some lines of commands, a line "----", and the output up to the next
// empty line.
func (t *Trace) Run(script string) string {
	var golden strings.Builder
	for i, block := range strings.Split(strings.TrimRight(script, "\n"), "\n\n") {
		if i > 0 {
			golden.WriteString("\n")
		}
		input, _, isBlock := strings.Cut(block, "\n----")
		golden.WriteString(input + "\n")
		if !isBlock {
			continue // a comment
		}
		golden.WriteString("----\n")
		for _, line := range strings.Split(input, "\n") {
			t.execute(line)
		}
		golden.WriteString(t.out.String())
		t.out.Reset()
	}
	return golden.String()
}

func (t *Trace) execute(line string) {
	words := strings.Fields(line)
	if len(words) == 0 || strings.HasPrefix(words[0], "#") {
		return
	}
	run := commands[words[0]]
	if run == nil {
		t.printf("no such command: %s", words[0])
		return
	}
	a := parseArguments(words[1:])
	if t.world == nil && words[0] != "world" {
		t.printf("no world yet")
		return
	}
	err := run(t, a)
	if err == nil {
		err = a.err
	}
	if err != nil {
		t.printf("%s: %v", words[0], err)
	}
}

func (t *Trace) printf(format string, args ...any) {
	fmt.Fprintf(&t.out, format+"\n", args...)
}

func (t *Trace) names() []string {
	var names []string
	for n := range t.requests {
		names = append(names, n)
	}
	sort.Slice(names, func(i, j int) bool {
		if len(names[i]) != len(names[j]) {
			return len(names[i]) < len(names[j])
		}
		return names[i] < names[j]
	})
	return names
}

// arguments are the words of a command: plain ones in order, and key=value.
type arguments struct {
	plain []string
	keyed map[string]string
	err   error
}

func parseArguments(words []string) *arguments {
	a := &arguments{keyed: map[string]string{}}
	for _, w := range words {
		if k, v, ok := strings.Cut(w, "="); ok {
			a.keyed[k] = v
		} else {
			a.plain = append(a.plain, w)
		}
	}
	return a
}

func (a *arguments) has(word string) bool {
	for _, p := range a.plain {
		if p == word {
			return true
		}
	}
	return false
}

func (a *arguments) word(i int) string {
	if i < len(a.plain) {
		return a.plain[i]
	}
	a.err = fmt.Errorf("argument %d is missing", i+1)
	return ""
}

func (a *arguments) number(key string, otherwise uint64) uint64 {
	text, ok := a.keyed[key]
	if !ok {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		a.err = err
	}
	return n
}

// sizes reads cut=3,4,3, or len=10.
func (a *arguments) sizes() []int {
	text, ok := a.keyed["cut"]
	if !ok {
		return []int{int(a.number("len", 0))}
	}
	var sizes []int
	for _, s := range strings.Split(text, ",") {
		n, err := strconv.Atoi(s)
		if err != nil {
			a.err = err
		}
		sizes = append(sizes, n)
	}
	return sizes
}

func (t *Trace) node(a *arguments, i int) *Node {
	n := t.world.Node(a.word(i))
	if n == nil && a.err == nil {
		a.err = fmt.Errorf("no node %q", a.plain[i])
	}
	return n
}

func (t *Trace) request(a *arguments, i int) *traced {
	r := t.requests[a.word(i)]
	if r == nil && a.err == nil {
		a.err = fmt.Errorf("no request %q", a.plain[i])
	}
	return r
}
