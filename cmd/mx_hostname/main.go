// Command mx_hostname prints the names of boards, and looks up those of others.
//
//	mx_hostname             the name of each board of this host
//	mx_hostname -d NAME     the NIC id and the name of a board anywhere
//
// With -h it explains its flags. The exit status is 0, or 1 if there is no such board or name.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"gomx/cmd/internal/processes"
	"gomx/internal/cmdline"
	"gomx/mx"
)

// Exit statuses.
const (
	exitGood   = 0
	exitFailed = 1
)

const helpText = `mx_hostname prints the names under which other hosts know the boards of this one, and looks
up the names of others.

  mx_hostname                 each board of this host
  mx_hostname -b 0            board 0
  mx_hostname -d NAME         what a program reaches that connects to NAME

  -b n     board n only
  -d name  look this up in place of boards: host, host:board, an address, or a NIC id such as
           0x02007f000001
  -v       the addresses and the state of each board, too
  -json    for programs
  -h       this text
  -version
           the version, and what built this program
  -completion shell
           the completion for bash, zsh or fish

Names are those of the system: /etc/hosts or DNS gives them, and changes them.
`

type options struct {
	board   int64 // -1: all
	name    string
	verbose bool
	json    bool
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program, with what it talks to as arguments.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args)
	asked, err := cmdline.Answer(stdout, err, helpText)
	if err == nil && !asked {
		err = show(o, stdout)
	}
	if err != nil {
		fmt.Fprintf(stderr, "mx_hostname: %v\n", err)
		return exitFailed
	}
	return exitGood
}

// parseOptions reads the command line. Its error after -h, -version and -completion is for cmdline.Answer.
func parseOptions(args []string) (*options, error) {
	o := &options{board: -1}
	flags := flag.NewFlagSet("mx_hostname", flag.ContinueOnError)
	flags.StringVar(&o.name, "d", "", "")
	flags.BoolVar(&o.verbose, "v", false, "")
	flags.BoolVar(&o.json, "json", false, "")
	flags.Func("b", "", processes.Board(&o.board))
	given, err := cmdline.Parse(flags, args)
	switch {
	case err != nil:
		return nil, err
	case given["d"] && o.name == "":
		return nil, errors.New("-d: want a name, an address or a NIC id")
	case given["d"] && (given["b"] || given["v"]):
		return nil, errors.New("-d looks up a name wherever it is: leave -b and -v out")
	}
	return o, nil
}

// entry is a board and its name.
type entry struct {
	Board     *int     `json:"board,omitempty"` // of this host
	NICID     string   `json:"nic_id"`
	Name      string   `json:"name"`
	Interface string   `json:"interface,omitempty"`
	State     string   `json:"state,omitempty"`
	Addresses []string `json:"addresses,omitempty"`
}

// show finds the names and prints them.
func show(o *options, to io.Writer) error {
	if err := mx.Init(); err != nil {
		return err
	}
	mx.SetErrorHandler(mx.ErrorsReturn) // also with MX_ERRORS_ARE_FATAL: we report ourselves
	list, err := o.find()
	if err == nil {
		err = o.print(to, list)
	}
	return errors.Join(err, mx.Finalize())
}

func (o *options) find() ([]entry, error) {
	if o.name != "" {
		e, err := lookUp(o.name)
		return []entry{e}, err
	}
	boards, err := mx.Boards()
	if err != nil {
		return nil, err
	}
	if err := processes.OneOf(boards, o.board); err != nil {
		return nil, err
	}
	var list []entry
	for i := range boards {
		b := &boards[i]
		if o.board >= 0 && int64(b.Number) != o.board {
			continue
		}
		e := entry{Board: &b.Number, NICID: b.ID.String(), Interface: b.Interface, State: b.State}
		if e.Name, err = mx.NICIDToHostname(uint64(b.ID)); err != nil {
			return nil, err
		}
		for _, a := range b.Addrs {
			e.Addresses = append(e.Addresses, a.String())
		}
		list = append(list, e)
	}
	return list, nil
}

// lookUp finds a board anywhere. One that no system has a name for is called by its NIC id.
func lookUp(name string) (entry, error) {
	id, err := mx.HostnameToNICID(name)
	if err != nil {
		return entry{}, err
	}
	e := entry{NICID: mx.NICID(id).String()}
	if e.Name, err = mx.NICIDToHostname(id); errors.Is(err, mx.ErrHostNotFound) {
		e.Name, err = e.NICID, nil
	}
	if board, unknown := mx.NICIDToBoardNumber(id); unknown == nil {
		n := int(board)
		e.Board = &n
	}
	return e, err
}

func (o *options) print(to io.Writer, list []entry) error {
	if o.json {
		e := json.NewEncoder(to)
		e.SetIndent("", "  ")
		return e.Encode(list)
	}
	w := tabwriter.NewWriter(to, 0, 8, 2, ' ', 0)
	for _, e := range list {
		switch {
		case e.Board == nil:
			fmt.Fprintf(w, "Board of another host (%s)", e.NICID)
		case e.Interface == "":
			fmt.Fprintf(w, "Board #%d (%s)", *e.Board, e.NICID)
		default:
			fmt.Fprintf(w, "Board #%d (%s %s)", *e.Board, e.Interface, e.NICID)
		}
		fmt.Fprintf(w, "\thostname is %s", e.Name)
		if o.verbose {
			fmt.Fprintf(w, "\t%s\t%s", e.State, strings.Join(e.Addresses, ", "))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
