// Command mx_endpoint_info says which processes have which endpoints open.
//
//	mx_endpoint_info          the endpoints of all processes of this user
//	mx_endpoint_info -v       with their peers and the requests that are not complete
//	mx_endpoint_info -json    for programs
//
// With -h it explains its flags. The exit status is 0, or 1 if a process could not be read, or the command line is wrong.
package main

import (
	"encoding/json"
	"flag"
	"io"
	"os"

	"gomx/cmd/internal/processes"
	"gomx/internal/cmdline"
)

const helpText = `mx_endpoint_info says which processes of this user have which endpoints open, over which
transports, with how many peers, and how full their queues are. Root sees all users.

  mx_endpoint_info           all endpoints, by board
  mx_endpoint_info -b 0      those on board 0
  mx_endpoint_info -p 1234   those of one process
  mx_endpoint_info -v        their peers, the requests that are not complete, and windows, too

  -b n     endpoints on board n only
  -p pid   those of one process only
  -v       with the peers of each endpoint, how each is reached or why not, the requests that
           are not complete (what each waits for, and for how long at most), and the windows
           that peers may use, with what these have done there
  -json    a list of endpoints, each with pid, command, host and what mx.EndpointSnapshot
           has
  -h       this text
  -version
           the version, and what built this program
  -completion shell
           the completion for bash, zsh or fish
`

type options struct {
	board   int64 // -1: all
	pid     int   // 0: all
	verbose bool
	json    bool
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program, with what it talks to as arguments.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args)
	return processes.Run("mx_endpoint_info", helpText, err, stdout, stderr, func() ([]error, error) { return show(o, stdout) })
}

// parseOptions reads the command line. After -h its error is flag.ErrHelp.
func parseOptions(args []string) (*options, error) {
	o := &options{board: -1}
	flags := flag.NewFlagSet("mx_endpoint_info", flag.ContinueOnError)
	flags.BoolVar(&o.verbose, "v", false, "")
	flags.BoolVar(&o.json, "json", false, "")
	flags.Func("b", "", processes.Board(&o.board))
	flags.Func("p", "", processes.PID(&o.pid))
	_, err := cmdline.Parse(flags, args)
	return o, err
}

// show reads the processes and prints their endpoints.
func show(o *options, to io.Writer) (failed []error, err error) {
	readings, failed, err := processes.Read(o.pid, false)
	if err == nil {
		err = processes.OnBoard(o.board, readings)
	}
	if err != nil {
		return failed, err
	}
	list := collect(readings, o.board)
	if o.json {
		e := json.NewEncoder(to)
		e.SetIndent("", "  ")
		return failed, e.Encode(list)
	}
	return failed, printAll(to, list, o.verbose)
}
