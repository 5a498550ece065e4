package ended

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
)

// several is an error that can't be compared.
type several []error

func (several) Error() string { return "several" }

// boxed can be compared as a type, and not with what it holds.
type boxed struct{ in any }

func (boxed) Error() string { return "boxed" }

// own is a context of the program's own type.
type own struct {
	context.Context
	err error
}

func (o own) Err() error { return o.err }

func TestBy(t *testing.T) {
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		err  error
		want bool
	}{
		"none":                      {nil, io.EOF, false},
		"no error":                  {cancelled, nil, false},
		"one that lives":            {context.Background(), context.Canceled, false},
		"its error":                 {cancelled, context.Canceled, true},
		"its error, wrapped":        {cancelled, fmt.Errorf("call: %w", context.Canceled), true},
		"another error":             {cancelled, io.EOF, false},
		"an error of its own":       {own{err: io.EOF}, fmt.Errorf("call: %w", errors.Join(io.EOF)), true},
		"a list of errors":          {own{err: several{io.EOF}}, several{io.EOF}, true},
		"a list of errors, wrapped": {own{err: several{io.EOF}}, fmt.Errorf("call: %w", several{io.EOF}), true},
		"a list of errors, joined":  {own{err: several{io.EOF}}, errors.Join(io.EOF, several{io.EOF}), true},
		"another list":              {own{err: several{io.EOF}}, several{io.ErrUnexpectedEOF}, false},
		"a boxed list":              {own{err: boxed{[]int{1}}}, boxed{[]int{1}}, true},
		"nothing of a list":         {own{err: several{io.EOF}}, io.EOF, false},
	} {
		if got := By(c.ctx, c.err); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
