package machine_test

import (
	"regexp"
	"runtime"
	"strings"
	"testing"

	"gomx/bench/machine"
)

func TestOrigin(t *testing.T) {
	got := machine.Origin("MPICH 4.0.2")
	if !strings.Contains(got, runtime.Version()+"; MPICH 4.0.2; ") || !regexp.MustCompile(`; \d{4}-\d\d-\d\d$`).MatchString(got) {
		t.Errorf("got %q", got)
	}
}
