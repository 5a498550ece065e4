// Package positive has flags that are whole numbers from 1 on: how many rows, steps or
// bodies an example has.
package positive

import (
	"errors"
	"flag"
	"strconv"
)

type value int

var errRange = errors.New("it must be a whole number, and at least 1")

// Flag declares a flag. A command line with a number below 1 is refused.
func Flag(name string, fallback int, usage string) *int {
	v := value(fallback)
	flag.Var(&v, name, usage)
	return (*int)(&v)
}

func (v *value) String() string { return strconv.Itoa(int(*v)) }

func (v *value) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return errRange
	}
	*v = value(n)
	return nil
}
