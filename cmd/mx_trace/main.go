// Command mx_trace puts the message traces of a job's ranks together, and says who has waited for whom.
//
//	mx_trace traces                  late senders, late receivers and the critical path
//	mx_trace -o job.json traces      what Perfetto opens: messages as arrows between ranks
//	mx_trace -json traces            for programs
//
// With -h it explains its flags. The exit status is 0; 1 if the command line is wrong, or files can't be read or belong to different jobs; 2 if it has
// printed what there is, but traces of ranks are missing, cut or damaged, or seem to be of several runs.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"gomx/cmd/internal/processes"
	"gomx/internal/cmdline"
	"gomx/mx/trace"
)

// Exit statuses.
const (
	exitGood       = 0
	exitFailed     = 1
	exitIncomplete = 2 // or of several runs
)

const helpText = `mx_trace puts the message traces of a job's ranks together, which MX_TRACE makes, and says
who has waited for whom.

  mx_trace traces               of all files in a folder: late senders, late receivers, and
                                the critical path
  mx_trace -o job.json traces   also a file in Chrome's trace-event format, which
                                https://ui.perfetto.dev opens

  -o file  write what both sides know of each message to a file in Chrome's trace-event
           format, which must not be a trace itself; - is the standard output, in the place
           of the report
  -n n     print that many pairs of ranks that were late (default 10)
  -json    the report as JSON
  -h       this text
  -version
           the version, and what built this program
  -completion shell
           the completion for bash, zsh or fish
`

type options struct {
	out   string
	pairs uint
	json  bool
	paths []string
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program, with what it talks to as arguments.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args)
	asked, err := cmdline.Answer(stdout, err, helpText)
	if asked && err == nil {
		return exitGood
	}
	var t *trace.Trace
	if err == nil {
		t, err = merge(o.paths)
	}
	if err == nil {
		err = show(t, o, stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, "mx_trace:", processes.Clean(err.Error()))
		return exitFailed
	}
	return complain(t, stderr)
}

// parseOptions reads the command line. After -h its error is flag.ErrHelp.
func parseOptions(args []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("mx_trace", flag.ContinueOnError)
	flags.StringVar(&o.out, "o", "", "")
	flags.UintVar(&o.pairs, "n", 10, "")
	flags.BoolVar(&o.json, "json", false, "")
	_, rest, err := cmdline.ParseBefore(flags, args)
	o.paths = rest
	switch {
	case err != nil:
		return nil, err
	case len(rest) == 0:
		return nil, errors.New("no trace is named: give the folder of MX_TRACE, or files from there; -h explains the flags")
	case o.json && o.out == "-":
		return nil, errors.New("-json and -o - want the standard output both")
	}
	return o, nil
}

func merge(paths []string) (*trace.Trace, error) {
	files, err := trace.Read(paths...)
	if err != nil {
		return nil, err
	}
	t, err := trace.Merge(files)
	processes.CleanAll(t) // anybody can have written the files
	return t, err
}

// show prints and writes what is asked for.
func show(t *trace.Trace, o *options, stdout io.Writer) error {
	if o.out == "-" {
		return t.WriteChrome(stdout)
	}
	if o.out != "" {
		f, err := create(o.out)
		if err != nil {
			return err
		}
		if err = errors.Join(t.WriteChrome(f), f.Close()); err != nil {
			return err
		}
	}
	if o.json {
		e := json.NewEncoder(stdout)
		e.SetIndent("", "  ")
		return e.Encode(t.Report())
	}
	return printReport(stdout, t.Report(), int(o.pairs))
}

// create makes a file that is no trace: its process may have it in memory still, and would be killed.
func create(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		if _, err := trace.Read(path); err == nil || errors.Is(err, trace.ErrVersion) {
			return nil, fmt.Errorf("-o %s: that is a trace, and stays: name another file", path)
		}
	}
	return os.Create(path)
}

// complain says what is missing or doesn't belong together, and returns the exit status.
func complain(t *trace.Trace, stderr io.Writer) int {
	status := exitGood
	if len(t.Missing) > 0 {
		fmt.Fprintf(stderr, "mx_trace: of %d ranks there is no trace of %s\n", t.Size, list(t.Missing))
		status = exitIncomplete
	}
	for _, r := range t.Ranks {
		if r.Cut > 0 {
			fmt.Fprintf(stderr, "mx_trace: %s was cut: %d events of %s are missing\n", r.Path, r.Cut, r.Name)
			status = exitIncomplete
		}
		if r.Damaged > 0 {
			fmt.Fprintf(stderr, "mx_trace: %s is damaged: %d events of %s can't be read\n", r.Path, r.Damaged, r.Name)
			status = exitIncomplete
		}
	}
	if len(t.Apart) > 0 {
		fmt.Fprintf(stderr, "mx_trace: the traces are of %d groups of endpoints that have exchanged nothing with each other, as those of several runs: %s; name the files of one, or give each run a folder of its own\n",
			len(t.Apart), groups(t))
		status = exitIncomplete
	}
	return status
}
