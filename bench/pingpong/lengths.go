package pingpong

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxLengths bounds how many lengths a run measures.
const maxLengths = 1 << 20

// Steps says which lengths to measure: from Start to below End.
type Steps struct {
	Start, End int     // bytes
	Add        int     // the next length is longer by this; 0: use Factor
	Factor     float64 // or by this factor, and by one byte at least
}

// Lengths returns the lengths, or an error that says why there are none.
func (s Steps) Lengths() ([]int, error) {
	switch {
	case s.Start < 0 || s.Start > MaxLength:
		return nil, fmt.Errorf("first length %d: lengths are 0 to %d bytes", s.Start, MaxLength)
	case s.End > MaxLength:
		return nil, fmt.Errorf("end %d: at most %d (1 GiB) is possible", s.End, MaxLength)
	case s.End <= s.Start:
		return nil, fmt.Errorf("end %d is not above the first length %d: nothing to measure", s.End, s.Start)
	case s.Add < 0:
		return nil, fmt.Errorf("increment %d: it must be positive", s.Add)
	case s.Add == 0 && !(s.Factor >= 1):
		return nil, fmt.Errorf("factor %v: it must be at least 1", s.Factor)
	}
	var lengths []int
	for n := s.Start; n < s.End; n = s.next(n) {
		if len(lengths) == maxLengths {
			return nil, fmt.Errorf("more than %d lengths from %d to %d: take larger steps", maxLengths, s.Start, s.End)
		}
		lengths = append(lengths, n)
	}
	return lengths, nil
}

func (s Steps) next(n int) int {
	if s.Add > 0 {
		return n + s.Add
	}
	return max(n+1, int(min(float64(n)*s.Factor, MaxLength)))
}

// ReadLengths reads lengths in bytes, separated by white space; from a # on, a
// line is a comment. The error names the line.
func ReadLengths(r io.Reader) ([]int, error) {
	var lengths []int
	lines := bufio.NewScanner(r)
	for number := 1; lines.Scan(); number++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		for word := range strings.FieldsSeq(text) {
			n, err := strconv.Atoi(word)
			if err != nil || n < 0 || n > MaxLength {
				return nil, fmt.Errorf("line %d: %q is not a length: want 0 to %d bytes", number, word, MaxLength)
			}
			if len(lengths) == maxLengths {
				return nil, fmt.Errorf("line %d: more than %d lengths", number, maxLengths)
			}
			lengths = append(lengths, n)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(lengths) == 0 {
		return nil, fmt.Errorf("no length in it: want one a line, in bytes")
	}
	return lengths, nil
}
