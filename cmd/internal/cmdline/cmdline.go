// Package cmdline reads the command lines of the programs, which all complain alike.
package cmdline

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// Parse reads flags and nothing else, and returns which were given. After -h its error is
// flag.ErrHelp.
func Parse(flags *flag.FlagSet, args []string) (given map[string]bool, err error) {
	flags.SetOutput(io.Discard)
	err = flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w; -h explains the flags", err)
	case flags.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q; -h explains the flags", flags.Arg(0))
	}
	given = map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	return given, nil
}
