package socket

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Bounds of what can be asked for.
const (
	maxLength = 1 << 30
	maxWindow = 1 << 16
	maxCore   = 1 << 10
)

// plan is what to measure. Its flags are those that all measuring programs share.
type plan struct {
	lengths    []int
	iterations int
	window     int
	cores      [2]int
}

func parsePlan(args []string) (*plan, error) {
	p := &plan{}
	var lengthsFile, pin string
	flags := flag.NewFlagSet("socket", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&lengthsFile, "L", "", "")
	flags.IntVar(&p.iterations, "N", 1000, "")
	flags.IntVar(&p.window, "window", 0, "")
	flags.StringVar(&pin, "pin", "", "")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if _, err := fmt.Sscanf(pin, "%d,%d", &p.cores[0], &p.cores[1]); err != nil {
		return nil, fmt.Errorf("-pin %q: want two cores, such as 0,1", pin)
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	file, err := os.Open(lengthsFile)
	if err != nil {
		return nil, fmt.Errorf("-L: %w", err)
	}
	defer file.Close()
	if p.lengths, err = readLengths(file); err != nil {
		return nil, fmt.Errorf("-L %s: %w", lengthsFile, err)
	}
	return p, nil
}

func (p *plan) check() error {
	switch {
	case p.iterations < 1:
		return fmt.Errorf("-N %d: want a number above 0", p.iterations)
	case p.window < 0 || p.window > maxWindow:
		return fmt.Errorf("-window %d: want 0 to %d", p.window, maxWindow)
	}
	for _, core := range p.cores {
		if core < 0 || core >= maxCore {
			return fmt.Errorf("-pin: there is no core %d", core)
		}
	}
	return nil
}

func readLengths(r io.Reader) ([]int, error) {
	var lengths []int
	for lines := bufio.NewScanner(r); lines.Scan(); {
		length, err := strconv.Atoi(strings.TrimSpace(lines.Text()))
		if err != nil || length < 0 || length > maxLength {
			return nil, fmt.Errorf("%q is not a length", lines.Text())
		}
		lengths = append(lengths, length)
	}
	if len(lengths) == 0 {
		return nil, errors.New("no lengths")
	}
	return lengths, nil
}

// onWire is how many bytes go out before an answer is waited for, and how many
// come back.
func (p *plan) onWire(length int) (out, back int) {
	if p.window > 0 {
		return max(1, length*p.window), 1
	}
	return max(1, length), max(1, length)
}

// longest is how much memory a side needs.
func (p *plan) longest() int {
	longest := 1
	for _, length := range p.lengths {
		out, back := p.onWire(length)
		longest = max(longest, out, back)
	}
	return longest
}
