// Package processes reads live processes for the tools that show them.
package processes

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"gomx/internal/cmdline"
	"gomx/mx"
	"gomx/mx/live"
)

// Read reads one process, or with pid 0 all of this user's. With clear their counters are cleared behind that. The texts are
// clean.
func Read(pid int, clear bool) (readings []*mx.LiveReading, failed []error, err error) {
	switch {
	case pid == 0 && clear:
		readings, failed, err = live.ClearAll()
	case pid == 0:
		readings, failed, err = live.All()
	default:
		read := live.Read
		if clear {
			read = live.Clear
		}
		var r *mx.LiveReading
		if r, err = read(pid); err == nil {
			readings = []*mx.LiveReading{r}
		}
	}
	CleanAll(&readings)
	return readings, failed, err
}

// answerBound is how long a process that is read again and again may take to answer, so that one that is stopped does not hold up
// the others.
const answerBound = time.Second

// Watcher reads processes again and again, or without any all of this user's.
func Watcher(pids []int) *live.Watcher { return &live.Watcher{PIDs: pids, Bound: answerBound} }

// PID reads the number of a process from a flag.
func PID(to *int) func(string) error {
	return func(s string) error {
		n, err := strconv.ParseUint(s, 10, 31)
		if err != nil || n == 0 {
			return errors.New("want the number of a process")
		}
		*to = int(n)
		return nil
	}
}

// Board reads the number of a board from a flag.
func Board(to *int64) func(string) error {
	return func(s string) error {
		n, err := strconv.ParseUint(s, 10, 32)
		if err != nil {
			return errors.New("want a board number")
		}
		*to = int64(n)
		return nil
	}
}

// Exit statuses of programs that read processes.
const (
	exitGood   = 0
	exitFailed = 1
)

// Run is a program behind its command line, and returns its exit status: it answers what the command line asks of the program itself, as
// the error of parsing it tells, or shows processes, and says which can't be read, and what else has failed.
func Run(program, help string, parsed error, stdout, stderr io.Writer, show func() (failed []error, err error)) int {
	asked, err := cmdline.Answer(stdout, parsed, help)
	var failed []error
	if err == nil && !asked {
		failed, err = show()
	}
	if err != nil {
		failed = append(failed, err)
	}
	if Report(stderr, program, failed) {
		return exitFailed
	}
	return exitGood
}

// Report says which processes can't be read, and returns whether there are any.
func Report(stderr io.Writer, program string, failed []error) bool {
	for _, err := range failed {
		fmt.Fprintf(stderr, "%s: %s\n", program, Clean(err.Error()))
	}
	return len(failed) > 0
}

// Rule is what MX's tools draw under a headline.
var Rule = strings.Repeat("=", 67)
