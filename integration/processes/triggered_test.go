//go:build linux

package processes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
)

// TestTriggeredPatterns runs a broadcast and barriers of triggered operations among eight endpoints in two processes, and in eight: once without
// any call of the program from the start to the end, and once with a program that waits for each barrier.
func TestTriggeredPatterns(t *testing.T) {
	testlength.Long(t)
	aboutShm(t)
	t.Parallel()
	program := filepath.Join(proc.Build(t, "examples/triggered"), "triggered")
	base := 1024 + os.Getpid()%128*8 // eight in a row that other programs hardly have
	for _, media := range []string{"shm", "tcp"} {
		for _, of := range []int{2, 8} {
			for _, waits := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %d processes, waits %v", media, of, waits), func(t *testing.T) {
					barriers := 500
					if testing.Short() {
						barriers = 50
					}
					var parts []proc.Program
					for part := range of {
						parts = append(parts, proc.StartProgram(t, proc.Options{Env: []string{transportKey + "=" + media}}, program,
							"-part", fmt.Sprint(part), "-of", fmt.Sprint(of), "-base", fmt.Sprint(base), "-n", fmt.Sprint(barriers), fmt.Sprintf("-wait=%v", waits)))
					}
					want := fmt.Sprintf("%d endpoints have had a broadcast of 100000 bytes, and %d barriers", 8/of, barriers)
					for i, p := range parts {
						if lines, status := p.Ends(); status != 0 || len(lines) != 1 || lines[0] != want {
							t.Errorf("part %d ends with status %d and says %q", i, status, lines)
						}
					}
				})
			}
		}
	}
}
