package mx

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gomx/mx/internal/tracefile"
)

// span is a range of numbers that a parameter and its variable may have.
type span struct{ least, most int64 }

// The ranges. Everything works at their ends, if slowly; beyond them something would not hold what it counts.
var (
	traceBytesSpan   = span{tracefile.LeastBytes, 1 << 37}
	messageSpan      = span{-1, MaxMessage} // -1: no limit, or what the transport advises
	unexpBytesSpan   = span{1, 1 << 37}     // of the smallest messages that is fewer than half the numbers there are for stored ones
	unexpHeadersSpan = span{1, 1 << 30}     // half of those numbers
	unexpReserveSpan = span{1, 1 << 31}     // it travels in 32 bits
	strangersSpan    = span{1, 1 << 20}     // Linux gives no process more descriptors
	backlogSpan      = span{1, 1 << 16}     // they are looked through one by one
	piecesSpan       = span{1, 1 << 37}     // as of unexpected messages
)

// String returns "from 1 to 10".
func (r span) String() string { return fmt.Sprintf("from %d to %d", r.least, r.most) }

// The checks return what is wanted in place of a value, or nil.

func (r span) check(n int) error {
	if int64(n) < r.least || int64(n) > r.most {
		return fmt.Errorf("want a number %v", r)
	}
	return nil
}

func checkSpin(d time.Duration) error {
	if d < 0 {
		return errors.New("want a duration that is not negative")
	}
	return nil
}

// leastRequestTimeout is what the engine counts time in.
const leastRequestTimeout = time.Millisecond

func checkRequestTimeout(d time.Duration) error {
	if d < leastRequestTimeout {
		return fmt.Errorf("want a duration of at least %v", leastRequestTimeout)
	}
	return nil
}

func checkConnectTimeout(d time.Duration) error {
	if d <= 0 {
		return errors.New("want a duration above 0")
	}
	return nil
}

// checkKeepAlive wants a duration that the system's timers can hold.
func checkKeepAlive(d time.Duration) error {
	if d < leastKeepAlive || d > longestKeepAlive {
		return fmt.Errorf("want a duration from %v to %v", leastKeepAlive, longestKeepAlive)
	}
	return nil
}

func checkContextID(v [2]uint8) error {
	if bits, shift := int(v[0]), int(v[1]); bits > ContextIDBitsMax || bits+shift > 64 {
		return fmt.Errorf("want at most %d bits, and a shift that leaves them within 64", ContextIDBitsMax)
	}
	return nil
}

func checkClasses(shift uint8) error {
	if shift < 1 || shift > 63 {
		return errors.New("want a bit from 1 to 63")
	}
	return nil
}

func checkTransports(names []string) error {
	known := strings.Join(transportOrder, ", ")
	if len(names) == 0 {
		return fmt.Errorf("want one or more of %s", known)
	}
	for i, name := range names {
		if _, ok := transportTable[name]; !ok {
			return fmt.Errorf("unknown transport %q, want one or more of %s", name, known)
		}
		if slices.Contains(names[:i], name) {
			return fmt.Errorf("%s is named twice", name)
		}
	}
	return nil
}

func checkHandler(h ErrorHandler) error {
	if h == nil {
		return errors.New("want a handler")
	}
	return nil
}

func anything[T any](T) error { return nil }
