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
	given, rest, err := ParseBefore(flags, args)
	if err == nil && len(rest) > 0 {
		return nil, fmt.Errorf("unexpected argument %q; -h explains the flags", rest[0])
	}
	return given, err
}

// ParseBefore reads flags up to the first argument that is none, and returns which were given, and
// the arguments from there on. After -h its error is flag.ErrHelp.
func ParseBefore(flags *flag.FlagSet, args []string) (given map[string]bool, rest []string, err error) {
	flags.SetOutput(io.Discard)
	err = flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return nil, nil, err
	case err != nil:
		return nil, nil, fmt.Errorf("%w; -h explains the flags", err)
	}
	given = map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	return given, flags.Args(), nil
}
