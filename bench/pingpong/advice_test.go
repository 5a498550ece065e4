package pingpong

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"gomx/mx"
)

// The advice is one that helps: to start a receiver only where there is none.
func TestConnectAdvice(t *testing.T) {
	failed := func(cause error) error { return fmt.Errorf("%w: %w", mx.ErrConnectionFailed, cause) }
	for _, c := range []struct {
		err    error
		advice string
	}{
		{failed(mx.ErrNoPeer), "start a receiver"},
		{failed(mx.ErrRefused), ""},
		{failed(errors.New("it belongs to user 0")), ""},
		{mx.ErrTimeout, "not stopped"},
		{mx.ErrBadConnectionKey, "-f"},
		{mx.ErrNICNotFound, "mx_info"},
	} {
		got := strings.TrimPrefix((&Setup{}).connectAdvice(c.err, 1).Error(), c.err.Error())
		if (got == "") != (c.advice == "") || !strings.Contains(got, c.advice) {
			t.Errorf("%v: %q", c.err, got)
		}
	}
}
