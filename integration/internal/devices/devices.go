// Package devices tells what programs hold of RDMA devices.
package devices

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"
)

// InMachine reports whether this runs in the machine of integration/rdmavm, where the
// devices belong to the tests alone.
func InMachine() bool { return os.Getenv("GOMX_RDMAVM_HOST") != "" }

// Held asks the kernel how many objects of each kind ("qp", "mr", as "rdma resource show" takes
// them) all programs have together. It knows them by their threads, and no longer by those
// that have ended, so that one can't be told from another. Outside of the machine nothing is
// known, and the result is empty.
func Held(t testing.TB, kinds ...string) map[string]int {
	t.Helper()
	held := map[string]int{}
	if !InMachine() {
		return held
	}
	for _, kind := range kinds {
		out, err := exec.Command("rdma", "-j", "resource", "show", kind).Output()
		if err != nil {
			t.Fatalf("rdma resource show %s: %v", kind, err)
		}
		var all []struct {
			PID     int
			Command string `json:"comm"`
		}
		if err := json.Unmarshal(out, &all); err != nil {
			t.Fatalf("rdma resource show %s: %v: %s", kind, err, out)
		}
		held[kind] = 0
		for _, one := range all {
			if kernels := one.PID == 0 && one.Command != ""; !kernels {
				held[kind]++
			}
		}
	}
	return held
}
