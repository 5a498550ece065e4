// Package ended tells whether an error is that of a context. It is safe for concurrent use.
package ended

import (
	"context"
	"errors"
	"reflect"
	"slices"
)

// By reports whether a context has ended, and err is its error or wraps it. The context may be of the program's own type, whose error
// may be one that can't be compared, such as a list of errors: errors.Is never finds those. nil is a context that does not end.
func By(ctx context.Context, err error) bool {
	if ctx == nil || err == nil {
		return false
	}
	cause := ctx.Err()
	if cause == nil || reflect.ValueOf(cause).Comparable() {
		return cause != nil && errors.Is(err, cause)
	}
	return wraps(err, cause)
}

// wraps is errors.Is for what can't be compared.
func wraps(err, target error) bool {
	if reflect.DeepEqual(err, target) {
		return true
	}
	switch x := err.(type) {
	case interface{ Unwrap() error }:
		return wraps(x.Unwrap(), target)
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(x.Unwrap(), func(e error) bool { return wraps(e, target) })
	}
	return false
}
