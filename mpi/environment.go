package mpi

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"gomx/mpi/internal/coll"
	"gomx/mpi/internal/variables"
	"gomx/mpi/launch"
	"gomx/mx"
)

// Variable describes one environment variable.
type Variable = mx.Variable

var table = []variables.Binding[settings]{
	{Name: "MX_COLL", Help: "algorithms of collectives, such as allreduce=rabenseifner,bcast=flat; the same at all ranks, or Init fails",
		Show: func(s *settings) string { return s.algorithms.String() },
		Set:  func(s *settings, text string) error { return s.algorithms.Parse(text) }},
	{Name: "MX_CHECK", Help: "1: every collective first compares what the ranks are about to do, and receives the types of elements; at all ranks, or at none",
		Show: func(s *settings) string { return variables.Bit(s.check) },
		Set:  func(s *settings, text string) error { return variables.SetBit(&s.check, text) }},
	{Name: "MX_HANG_TIMEOUT", Help: "how long a call may block before the job reports what its ranks wait for, such as 30s; 0: for ever. If it is set, a deadlock that is certain ends the job",
		Show: func(s *settings) string { return s.hang.String() },
		Set:  setHang},
	{Name: "MX_LOCAL", Help: "without a launcher, and without MX_SINGLETON, Main runs this many ranks as goroutines of its process; 0: one rank",
		Show: func(s *settings) string { return strconv.Itoa(s.local) },
		Set: func(s *settings, text string) error {
			n, err := strconv.Atoi(text)
			if err != nil || n < 0 || n >= mx.MaxEndpoints {
				return fmt.Errorf("want a number of ranks from 0 to %d", mx.MaxEndpoints-1)
			}
			s.local = n
			return nil
		}},
}

// Environment returns the variables that this package and mpi/launch read, besides those of
// package mx, with default, effective value and where that comes from. A value that makes no
// sense is an error that names the variable. Safe from any goroutine.
func Environment() ([]Variable, error) {
	below, launchErr := launch.Environment()
	var all []Variable
	for _, v := range below {
		all = append(all, Variable(v))
	}
	s, plain := defaultSettings(), defaultSettings()
	err := variables.Read(table, &s, os.Getenv)
	for _, v := range variables.List(table, &plain, &s, os.Getenv) {
		all = append(all, Variable(v))
	}
	return all, errors.Join(launchErr, err)
}

// warnOnce says once in a process which variables nothing reads. In a job of several processes rank 0 does.
var warnOnce sync.Once

func warnOfVariables() {
	warnOnce.Do(func() {
		for _, s := range variables.Strangers(os.Environ(), "MX_", knownVariables()) {
			hint := "mx_info -env lists those that are"
			if s.Near != "" {
				hint = "did you mean " + s.Near + "?"
			}
			fmt.Fprintf(os.Stderr, "mpi: the environment has %s, which is not read: %s\n", s.Name, hint)
		}
	})
}

// knownVariables returns the names that this package and package mx read. Errors are about values, which others tell of.
func knownVariables() (names []string) {
	own, _ := Environment()
	below, _ := mx.Environment()
	for _, v := range own {
		names = append(names, v.Name)
	}
	for _, v := range below {
		names = append(names, v.Name)
	}
	return names
}

func setHang(s *settings, text string) error {
	d, err := variables.Time(text)
	if err != nil {
		return err
	}
	s.hang, s.hangEnds = d, d > 0
	return nil
}

// defaultHang is so long that programs which only compute don't see a report.
const defaultHang = 10 * time.Minute

func defaultSettings() settings {
	return settings{algorithms: &coll.Overrides{}, hang: defaultHang, threads: ThreadMultiple}
}
