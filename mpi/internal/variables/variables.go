package variables

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Binding ties a variable to its place in settings of type S.
type Binding[S any] struct {
	Name, Help string
	Show       func(s *S) string // the value in force, for people
	Set        func(s *S, text string) error
}

// Variable describes one environment variable, as mx.Variable does.
type Variable struct{ Name, Default, Value, Source, Help string }

// Read sets what the environment says, up to the first value that makes no sense: the error names the
// variable.
func Read[S any](table []Binding[S], s *S, env func(name string) string) error {
	for _, v := range table {
		text := env(v.Name)
		if text == "" {
			continue
		}
		if err := v.Set(s, text); err != nil {
			return fmt.Errorf("%s=%q: %w (%s)", v.Name, text, err, v.Help)
		}
	}
	return nil
}

// List describes the variables, with the values of settings that nothing was read into as defaults.
func List[S any](table []Binding[S], plain, s *S, env func(name string) string) (all []Variable) {
	for _, v := range table {
		out := Variable{v.Name, v.Show(plain), v.Show(s), "default", v.Help}
		if env(v.Name) != "" {
			out.Source = "environment"
		}
		all = append(all, out)
	}
	return all
}

// Bit shows what SetBit reads.
func Bit(b bool) string {
	if b {
		return "1"
	}
	return "0"
}

// SetBit reads 0 or 1.
func SetBit(to *bool, text string) (err error) {
	if *to, err = strconv.ParseBool(text); err != nil {
		return errors.New("want 0 or 1")
	}
	return nil
}

// Time reads a duration, such as 30s, or a plain number of seconds. It is not below 0.
func Time(text string) (time.Duration, error) {
	if digits := strings.Trim(text, "0123456789") == ""; digits {
		text += "s"
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, errors.New("want a duration such as 30s or 5m, of 292 years at most")
	}
	return d, nil
}
