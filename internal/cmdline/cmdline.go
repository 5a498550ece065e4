// Package cmdline reads the command lines of the programs, which all complain alike, and answers the flags that all of
// them have: -h, -version and -completion.
package cmdline

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// Hidden is the usage of a flag that is there to be refused with good advice: completion does not offer it.
const Hidden = "-"

// A question is the error of Parse for a command line that asks something about the program itself.
type question struct {
	flags      *flag.FlagSet
	help       bool
	version    bool
	completion string // a shell
}

func (q *question) Error() string { return "the command line asks about the program itself" }

// Is has callers find -h as the flag package names it.
func (q *question) Is(target error) bool { return q.help && target == flag.ErrHelp }

// Parse reads flags and nothing else, and returns which were given. Its error after -h, -version and -completion is for
// Answer.
func Parse(flags *flag.FlagSet, args []string) (given map[string]bool, err error) {
	given, rest, err := ParseBefore(flags, args)
	if err == nil && len(rest) > 0 {
		return nil, fmt.Errorf("unexpected argument %q; -h explains the flags", rest[0])
	}
	return given, err
}

// ParseBefore reads flags up to the first argument that is none, and returns which were given, and
// the arguments from there on. Its error after -h, -version and -completion is for Answer.
func ParseBefore(flags *flag.FlagSet, args []string) (given map[string]bool, rest []string, err error) {
	q := &question{flags: flags}
	flags.BoolVar(&q.version, "version", false, "print the version, and what built the program")
	flags.StringVar(&q.completion, "completion", "", "print the completion for a `shell`: bash, zsh or fish")
	flags.SetOutput(io.Discard)
	err = flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		q.help = true
		return nil, nil, q
	case err != nil:
		return nil, nil, fmt.Errorf("%w; -h explains the flags", wanting(flags, err))
	case q.version:
		return nil, nil, q
	}
	given = map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if given["completion"] {
		if _, known := shells[q.completion]; !known {
			return nil, nil, fmt.Errorf("-completion %q: want bash, zsh or fish", q.completion)
		}
		return nil, nil, q
	}
	return given, flags.Args(), nil
}

// Answer answers a command line that asked about the program itself, as err of Parse tells, and returns true and the
// error of writing. After -h the answer is help, and behind it the flags that help does not describe; after -version it
// is the version, after -completion the completion of all flags. Any other err is returned as it is.
func Answer(to io.Writer, err error, help string) (asked bool, failed error) {
	q := (*question)(nil)
	if !errors.As(err, &q) {
		return false, err
	}
	_, failed = io.WriteString(to, q.answer(help))
	return true, failed
}

func (q *question) answer(help string) string {
	switch {
	case q.help:
		return help + defaults(q.flags, help)
	case q.version:
		return Version(q.flags.Name()) + "\n"
	}
	return shells[q.completion](q.flags.Name(), describe(q.flags, help))
}

// defaults returns the flags that help does not describe, with their usages and defaults, as the flag package prints
// them.
func defaults(flags *flag.FlagSet, help string) string {
	described := lines(help)
	rest := flag.NewFlagSet("", flag.ContinueOnError)
	flags.VisitAll(func(f *flag.Flag) {
		if f.Usage != Hidden && described[f.Name] == nil {
			rest.Var(f.Value, f.Name, f.Usage)
			rest.Lookup(f.Name).DefValue = f.DefValue
		}
	})
	var text strings.Builder
	rest.SetOutput(&text)
	rest.PrintDefaults()
	return text.String()
}
