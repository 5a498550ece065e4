package npb

import (
	"errors"
	"flag"
	"strings"
)

// Class is the size of a problem: S, W, A, B or C, in rising order. It is a
// flag.Value, so that a command line with another class is refused.
type Class string

var errClass = errors.New("the classes are S, W, A, B and C")

// ClassFlag declares a flag for the class, which is S unless it is given.
func ClassFlag(name string) *Class {
	c := Class("S")
	flag.Var(&c, name, "size of the problem: S, W, A, B or C")
	return &c
}

// String returns the letter.
func (c *Class) String() string { return string(*c) }

// Set takes a letter, large or small.
func (c *Class) Set(s string) error {
	letter := strings.ToUpper(s)
	if len(letter) != 1 || !strings.Contains("SWABC", letter) {
		return errClass
	}
	*c = Class(letter)
	return nil
}
