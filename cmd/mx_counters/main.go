// Command mx_counters prints the counters of live endpoints.
//
//	mx_counters            the counters of each board that are not 0, over all processes of this user
//	mx_counters -e         of each endpoint
//	mx_counters -w 1s      what has changed, every second
//	mx_counters -json      for programs
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
	"time"

	"gomx/cmd/internal/processes"
	"gomx/internal/cmdline"
	"gomx/mx"
)

const helpText = `mx_counters prints the counters of the endpoints that processes of this user have open.
Root sees all users.

  mx_counters           of each board: the sums over its endpoints
  mx_counters -e        of each endpoint
  mx_counters -a        of communicators and libraries of sockets, too
  mx_counters -w 1s     every second: the values, and how much they have grown

  -b n     endpoints on board n only
  -p pid   those of one process only
  -e       each endpoint for itself
  -a       also the counters of what is built on endpoints: ranks, communicators, libraries
           of sockets
  -q       counters that are not 0 (default)
  -v       all counters
  -c       clear, after printing: later readings of endpoints, of anybody, show what was
           counted since. The processes keep their counters, and neither metrics nor what
           -a adds changes
  -w t     print again every so often, such as 1s, at least 10ms, with the growth since the
           last time, until interrupted
  -n n     with -w: end after so many times
  -json    a list of blocks; with -w a list a line
  -h       this text
  -version
           the version, and what built this program
  -completion shell
           the completion for bash, zsh or fish
`

type options struct {
	board                       int64 // -1: all
	pid                         int   // 0: all
	each, above, verbose, quiet bool
	clear, json                 bool
	every                       time.Duration // 0: once
	times                       uint          // 0: for ever
}

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr, cmdline.Interrupted(os.Interrupt)))
}

// run is the whole program, with what it talks to as arguments.
func run(args []string, stdout, stderr io.Writer, interrupted <-chan os.Signal) int {
	o, err := parseOptions(args)
	return processes.Run("mx_counters", helpText, err, stdout, stderr, func() ([]error, error) { return watch(o, stdout, interrupted) })
}

// shortest is the shortest time between two readings: each takes the lock of each endpoint.
const shortest = 10 * time.Millisecond

// parseOptions reads the command line. After -h its error is flag.ErrHelp.
func parseOptions(args []string) (*options, error) {
	o := &options{board: -1}
	flags := flag.NewFlagSet("mx_counters", flag.ContinueOnError)
	flags.BoolVar(&o.each, "e", false, "")
	flags.BoolVar(&o.above, "a", false, "")
	flags.BoolVar(&o.verbose, "v", false, "")
	flags.BoolVar(&o.quiet, "q", false, "")
	flags.BoolVar(&o.clear, "c", false, "")
	flags.BoolVar(&o.json, "json", false, "")
	flags.DurationVar(&o.every, "w", 0, "")
	flags.UintVar(&o.times, "n", 0, "")
	flags.Func("b", "", processes.Board(&o.board))
	flags.Func("p", "", processes.PID(&o.pid))
	given, err := cmdline.Parse(flags, args)
	switch {
	case err != nil:
		return nil, err
	case o.quiet && o.verbose:
		return nil, errors.New("-q and -v contradict each other: give one of them")
	case given["w"] && o.every < shortest:
		return nil, fmt.Errorf("-w wants a duration of at least %v", shortest)
	case given["n"] && !given["w"]:
		return nil, errors.New("-n has nothing to do without -w")
	case given["n"] && o.times == 0:
		return nil, errors.New("-n 0: want a number above 0")
	case o.clear && given["w"]:
		return nil, errors.New("-c clears once: give it without -w")
	}
	return o, nil
}

// watch prints the counters once, or again and again.
func watch(o *options, to io.Writer, interrupted <-chan os.Signal) (failed []error, err error) {
	read := func() ([]*mx.LiveReading, []error, error) { return processes.Read(o.pid, o.clear) }
	if o.every > 0 {
		read = again(o.pid)
	}
	var before map[string][]value
	for turn := uint(1); ; turn++ {
		readings, failed, err := read()
		if err == nil && turn == 1 {
			err = processes.OnBoard(o.board, readings)
		}
		if err != nil {
			return failed, err
		}
		list := collect(readings, o)
		if err := show(o, to, list, before); err != nil || o.every == 0 || turn == o.times {
			return failed, err
		}
		before = map[string][]value{}
		for i := range list {
			before[list[i].Title] = list[i].Counters
		}
		select {
		case <-time.After(o.every):
		case <-interrupted:
			return failed, nil
		}
	}
}

// again returns a function that reads a process, or with pid 0 all, again and again. For a process that does not answer any more it
// returns what that has said last, so that sums over processes do not shrink.
func again(pid int) func() ([]*mx.LiveReading, []error, error) {
	var pids []int
	if pid != 0 {
		pids = []int{pid}
	}
	watcher := processes.Watcher(pids)
	watcher.Whole = true
	return func() (readings []*mx.LiveReading, failed []error, err error) {
		readings, silent, err := watcher.Read(false)
		for _, s := range silent {
			failed = append(failed, s.Err)
			if s.Last != nil {
				readings = append(readings, s.Last)
			}
		}
		if pid != 0 && err == nil && len(readings) == 0 {
			return nil, nil, failed[0] // it has never answered
		}
		processes.CleanAll(&readings)
		return readings, failed, err
	}
}

func show(o *options, to io.Writer, list []block, before map[string][]value) error {
	if !o.json {
		return printAll(to, list, before, o)
	}
	e := json.NewEncoder(to)
	if o.every == 0 {
		e.SetIndent("", "  ")
	}
	return e.Encode(list)
}
