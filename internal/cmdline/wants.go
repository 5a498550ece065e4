package cmdline

import (
	"errors"
	"flag"
	"strings"
	"time"
)

// wanting makes an error of package flag say what a value should have been, in place of "parse error".
func wanting(flags *flag.FlagSet, err error) error {
	text, cut := strings.CutSuffix(err.Error(), ": parse error")
	if !cut {
		if text, cut = strings.CutSuffix(text, ": value out of range"); !cut {
			return err
		}
	}
	at := strings.LastIndex(text, " -")
	if at < 0 {
		return err
	}
	f := flags.Lookup(text[at+len(" -"):])
	if f == nil {
		return err
	}
	g, ok := f.Value.(flag.Getter)
	if !ok {
		return err
	}
	switch g.Get().(type) {
	case uint, uint64:
		return errors.New(text + ": want a whole number that is not negative, and not too large")
	case int, int64:
		return errors.New(text + ": want a whole number that is not too large")
	case float64:
		return errors.New(text + ": want a number")
	case time.Duration:
		return errors.New(text + ": want a duration, such as 250ms or 1m30s")
	case bool:
		return errors.New(text + ": want true or false, or the flag alone")
	}
	return err
}
