package usage_test

import (
	"errors"
	"testing"

	"gomx/bench/usage"
)

func TestTimeGrows(t *testing.T) {
	before, err := usage.Self()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip("needs a system that tells processor times:", err)
	}
	for after := before; err == nil && after == before; {
		after, err = usage.Self()
	}
	if err != nil || before < 0 {
		t.Errorf("%v, %v", before, err)
	}
}
