package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"gomx/cmd/internal/processes"
	"gomx/mx"
)

// showProviders prints which transports and boards meet the wishes, and reports whether one does.
func showProviders(o *options, to io.Writer) (met bool, err error) {
	if _, err := environment(); err != nil {
		return false, badVariable(err)
	}
	if err := mx.Init(); err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, mx.Finalize()) }()
	mx.SetErrorHandler(mx.ErrorsReturn)
	list, err := mx.Providers(o.want)
	if err != nil {
		return false, err
	}
	if o.oneBoard {
		boards, err := mx.Boards()
		if err == nil {
			err = processes.OneOf(boards, int64(o.board))
		}
		if err != nil {
			return false, err
		}
		list = slices.DeleteFunc(list, func(p mx.Provider) bool { return p.Board >= 0 && p.Board != int(o.board) })
	}
	met = slices.ContainsFunc(list, func(p mx.Provider) bool { return p.Meets() })
	if o.json {
		return met, printJSON(to, list)
	}
	return met, printProviders(to, list, met)
}

func printProviders(to io.Writer, list []mx.Provider, met bool) error {
	title := "Nothing meets the wishes:"
	if met {
		title = "Meet the wishes, best first:"
		fmt.Fprintln(to, title)
		w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "  TRANSPORT\tBOARD\tREACH\tLATENCY\tENCRYPTED\tHEALS")
		for i := range list {
			if p := &list[i]; p.Meets() {
				fmt.Fprintf(w, "  %s\t%s\t%v\t%v\t%s\t%s\n", p.Transport, boardName(p), p.Offers.Reach, p.Offers.Latency, encrypted(p), yes(p.Offers.Heals))
			}
		}
		if err := w.Flush(); err != nil {
			return err
		}
		title = "Do not:"
	}
	for i := range list {
		p := &list[i]
		if p.Meets() {
			continue
		}
		if title != "" {
			fmt.Fprintln(to, title)
			title = ""
		}
		where := ""
		if p.Board >= 0 {
			where = ", board " + boardName(p)
		}
		fmt.Fprintf(to, "  %s%s: %s\n", p.Transport, where, strings.Join(p.Refused, "; "))
	}
	return nil
}

func boardName(p *mx.Provider) string {
	if p.Board < 0 {
		return "any"
	}
	return fmt.Sprintf("%d (%s)", p.Board, p.Interface)
}

// encrypted tells media that encrypt from those that need not.
func encrypted(p *mx.Provider) string {
	if p.Offers.Encrypted && p.Offers.Reach < mx.ReachNetwork && p.Board < 0 {
		return "not on a wire"
	}
	return yes(p.Offers.Encrypted)
}

func yes(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}
