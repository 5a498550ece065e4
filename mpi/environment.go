package mpi

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"gomx/mpi/internal/coll"
	"gomx/mpi/launch"
)

// Variable describes one environment variable, as mx.Variable does.
type Variable = launch.Variable

// variable binds a name to a field of the settings.
type variable struct {
	name, help string
	show       func(s *settings) string
	set        func(s *settings, text string) error
}

var variables = []variable{
	{name: "MX_COLL", help: "algorithms of collectives, such as allreduce=ring,bcast=flat; the same at all ranks",
		show: func(s *settings) string { return s.algorithms.String() },
		set:  func(s *settings, text string) error { return s.algorithms.Parse(text) }},
	{name: "MX_CHECK", help: "1: every collective first compares what the ranks are about to do",
		show: func(s *settings) string { return bit(s.check) },
		set:  func(s *settings, text string) error { return setBit(&s.check, text) }},
	{name: "MX_HANG_TIMEOUT", help: "how long a call may block before the job reports what its ranks wait for, such as 30s; 0: for ever. If it is set, a deadlock that is certain ends the job",
		show: func(s *settings) string { return s.hang.String() },
		set:  setHang},
	{name: "MX_LOCAL", help: "without a launcher, Main runs this many ranks as goroutines of its process; 0: one rank",
		show: func(s *settings) string { return strconv.Itoa(s.local) },
		set: func(s *settings, text string) error {
			n, err := strconv.ParseUint(text, 10, 31)
			s.local = int(n)
			return err
		}},
}

// Environment returns the variables that this package and mpi/launch read, besides those of
// package mx, with default, effective value and where that comes from. A value that makes no
// sense is an error that names the variable. Safe from any goroutine.
func Environment() ([]Variable, error) {
	all, launchErr := launch.Environment()
	s := defaultSettings()
	err := s.readEnvironment()
	plain := defaultSettings()
	for _, v := range variables {
		out := Variable{Name: v.name, Default: v.show(&plain), Value: v.show(&s), Source: "default", Help: v.help}
		if os.Getenv(v.name) != "" {
			out.Source = "environment"
		}
		all = append(all, out)
	}
	return all, errors.Join(launchErr, err)
}

func (s *settings) readEnvironment() error {
	for _, v := range variables {
		text := os.Getenv(v.name)
		if text == "" {
			continue
		}
		if err := v.set(s, text); err != nil {
			return fmt.Errorf("%s=%q: %w (%s)", v.name, text, err, v.help)
		}
	}
	return nil
}

func bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

func setBit(to *bool, text string) (err error) {
	if *to, err = strconv.ParseBool(text); err != nil {
		return errors.New("want 0 or 1")
	}
	return nil
}

// setHang reads 30s and the like, or a plain number of seconds.
func setHang(s *settings, text string) error {
	d, err := time.ParseDuration(text)
	if n, plain := strconv.ParseUint(text, 10, 31); plain == nil {
		d, err = time.Duration(n)*time.Second, nil
	}
	if err != nil || d < 0 {
		return errors.New("want a duration such as 30s or 5m")
	}
	s.hang, s.hangEnds = d, d > 0
	return nil
}

// defaultHang is so long that programs which only compute don't see a report.
const defaultHang = 10 * time.Minute

func defaultSettings() settings {
	return settings{algorithms: &coll.Overrides{}, hang: defaultHang}
}
