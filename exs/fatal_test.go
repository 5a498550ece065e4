package exs_test

import (
	"errors"
	"testing"

	"gomx/exs"
	"gomx/mx"
)

// Calls of mx that this package makes ask no handler of the program's: with MX_ERRORS_ARE_FATAL that would end the process for a call that the
// program has not made.
func TestNoHandlerIsAsked(t *testing.T) {
	before := mx.SetErrorHandler(func(err *mx.Error) error {
		t.Error("a handler is asked:", err)
		return err
	})
	defer func() { mx.SetErrorHandler(before) }()
	w := newWorld(t, "mem")
	for _, l := range []*exs.Library{w.here, w.there} {
		ep, err := l.Endpoint()
		w.ok(err)
		if _, err := ep.Cancel(mx.Request{}); !errors.Is(err, mx.ErrBadRequest) {
			t.Error(err)
		}
	}
}
