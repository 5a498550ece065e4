package mpi_test

import (
	"strings"
	"testing"
	"time"

	"gomx/mpi"
)

func TestOptionsThatCannotBe(t *testing.T) {
	for want, option := range map[string]mpi.Option{
		"WithThreadLevel(77)":    mpi.WithThreadLevel(77),
		"is nil: leave it out":   nil,
		"WithThreadLevel(-1)":    mpi.WithThreadLevel(-1),
		"WithHangTimeout(-5ns":   mpi.WithHangTimeout(-5 * time.Nanosecond),
		`no bcast by "nonsense"`: mpi.WithAlgorithms("bcast=nonsense"),
	} {
		err := run(t, 1, func(*mpi.Comm) error { return nil }, option)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
