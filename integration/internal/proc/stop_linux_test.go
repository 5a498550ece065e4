package proc

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

func TestMain(m *testing.M) { Main(m, map[string]Role{"stops": stops}) }

// stops is a child that stops itself, and may go on from when a file is there. It does so in two goroutines at
// a time, so that one of them at least is not on the process's first thread, which takes signals before others.
func stops(c *Child) {
	one := make(chan struct{}, 1)
	one <- struct{}{}
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			for range stopsOfEach {
				<-one
				permit := c.Hear()
				if err := StopSelf(); err != nil {
					c.Fail(err)
				}
				_, err := os.Stat(permit)
				c.Say("allowed: %t", err == nil)
				one <- struct{}{}
			}
		})
	}
	both.Wait()
}

const stopsOfEach = 10

// TestStopSelf: who stops itself does nothing until it is let go on.
func TestStopSelf(t *testing.T) {
	child := Start(t, "stops")
	dir := t.TempDir()
	for i := range 2 * stopsOfEach {
		permit := filepath.Join(dir, string(rune('a'+i)))
		child.Say("%s", permit)
		child.untilStopped()
		if err := os.WriteFile(permit, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		child.Signal(syscall.SIGCONT)
		if said := child.Hear("allowed: "); said != "true" {
			t.Errorf("stop %d: it has gone on before it was let", i)
		}
	}
}
