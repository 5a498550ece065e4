package main

import (
	"fmt"
	"strconv"
	"strings"
)

// pin is the pair of cores that the two processes of a measurement run on.
type pin [2]int

// String is the pair as the measuring programs take it.
func (p pin) String() string { return fmt.Sprintf("%d,%d", p[0], p[1]) }

// Set reads a pair of different cores, for package flag.
func (p *pin) Set(text string) error {
	first, second, ok := strings.Cut(text, ",")
	if !ok {
		return fmt.Errorf("want two cores, as in 0,1")
	}
	var cores pin
	for i, word := range []string{first, second} {
		core, err := strconv.ParseUint(strings.TrimSpace(word), 10, 16)
		if err != nil {
			return fmt.Errorf("%q is not a core number", word)
		}
		cores[i] = int(core)
	}
	if cores[0] == cores[1] {
		return fmt.Errorf("want two different cores: two spinning processes on one core measure the scheduler")
	}
	*p = cores
	return nil
}
