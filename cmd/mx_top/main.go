// Command mx_top shows the endpoints and jobs of this host as they run: rates, depths, who talks to whom, and who waits for whom.
//
//	mx_top                        in the terminal, until q
//	mx_top -http 127.0.0.1:8080   as a page for a browser
//	mx_top -once                  a table
//	mx_top -json                  the same for programs
//
// With -h it explains its flags. The exit status is 0, or 1 if a process could not be read, or the command line is wrong.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"gomx/cmd/internal/processes"
	"gomx/internal/cmdline"
)

const helpText = `mx_top shows the endpoints and jobs of this user on this host as they run: rates, bandwidth
and depths, who talks to whom, and who waits for whom. Root sees all users.

  mx_top                        in the terminal; q ends it, ? explains the keys
  mx_top -http 127.0.0.1:8080   as a page for a browser
  mx_top -once                  a table of what happens within a second
  mx_top -json                  the same for programs

  -b n     endpoints on board n only
  -p pids  those of one process only, or of several with commas between them
  -w t     look every so often (default 1s), at least 100ms
  -http address
           serve the page there; port 0 takes a free one. It prints where the page is. The
           address should be one of this host itself, such as 127.0.0.1, which is taken if
           there is only a colon and a port
  -once    print a table, once
  -json    print a view in JSON, once
  -h       this text
  -version
           the version, and what built this program
  -completion shell
           the completion for bash, zsh or fish
`

type options struct {
	board      int64 // -1: all
	pids       []int // none: all
	every      time.Duration
	http       string
	once, json bool
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, func() <-chan os.Signal { return cmdline.Interrupted(cmdline.EndSignals()...) }))
}

// run is the whole program, with what it talks to as arguments. It catches signals where they leave something to do:
// a table ends with the process, also one that its reader does not take.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer, catch func() <-chan os.Signal) int {
	o, err := parseOptions(args)
	return processes.Run("mx_top", helpText, err, stdout, stderr, func() ([]error, error) {
		c := newCollector(o.pids, o.board)
		if err := c.findBoard(); err != nil {
			return nil, err
		}
		switch {
		case o.http != "":
			return nil, serve(o, c, stdout, catch())
		case o.once || o.json:
			return once(o, c, stdout)
		}
		return nil, watch(o, c, stdin, stdout, catch())
	})
}

// shortest is the shortest time between two looks: each takes the lock of each endpoint.
const shortest = 100 * time.Millisecond

// parseOptions reads the command line. After -h its error is flag.ErrHelp.
func parseOptions(args []string) (*options, error) {
	o := &options{board: -1}
	flags := flag.NewFlagSet("mx_top", flag.ContinueOnError)
	flags.BoolVar(&o.once, "once", false, "")
	flags.BoolVar(&o.json, "json", false, "")
	flags.StringVar(&o.http, "http", "", "")
	flags.DurationVar(&o.every, "w", time.Second, "")
	flags.Func("b", "", processes.Board(&o.board))
	flags.Func("p", "", func(s string) error {
		for one := range strings.SplitSeq(s, ",") {
			pid := 0
			if err := processes.PID(&pid)(one); err != nil {
				return err
			}
			if !slices.Contains(o.pids, pid) {
				o.pids = append(o.pids, pid)
			}
		}
		return nil
	})
	given, err := cmdline.Parse(flags, args)
	switch {
	case err != nil:
		return nil, err
	case o.every < shortest:
		return nil, fmt.Errorf("-w wants a duration of at least %v", shortest)
	case given["http"] && (o.once || o.json):
		return nil, errors.New("-http serves until it is interrupted: give it without -once and -json")
	case given["http"] && o.http == "":
		return nil, errors.New("-http wants an address, such as 127.0.0.1:8080")
	}
	return o, nil
}

// once looks twice, for the rates in between, and prints what it has seen.
func once(o *options, c *collector, to io.Writer) (failed []error, err error) {
	if _, err = c.collect(); err != nil {
		return nil, err
	}
	time.Sleep(o.every)
	c.pending = true
	v, err := c.collect()
	if err != nil {
		return nil, err
	}
	for i := range v.Silent {
		failed = append(failed, errors.New(v.Silent[i].Error))
	}
	if !o.json {
		_, err = io.WriteString(to, v.text())
		return failed, err
	}
	e := json.NewEncoder(to)
	e.SetIndent("", "  ")
	return failed, e.Encode(v)
}
