package echo_test

import (
	"errors"
	"testing"

	"gomx/examples/exs_steps/internal/echo"
)

func TestCheckSeesChanges(t *testing.T) {
	buffer := make([]byte, echo.MaxBytes)
	for i := range echo.Messages {
		b := echo.Fill(buffer, i)
		if err := echo.Check(b, i); err != nil {
			t.Fatal(err)
		}
		if err := echo.Check(b[:len(b)-1], i); !errors.Is(err, echo.ErrChanged) {
			t.Errorf("message %d cut: %v", i, err)
		}
		b[len(b)/2]++
		if err := echo.Check(b, i); !errors.Is(err, echo.ErrChanged) {
			t.Errorf("message %d changed: %v", i, err)
		}
	}
}
