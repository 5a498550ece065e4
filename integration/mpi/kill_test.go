//go:build linux

package mpi_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
)

// TestKilled kills a rank that others wait for in all ways, without a launcher that would tell them.
func TestKilled(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	overEach(t, func(t *testing.T, medium string) {
		for _, c := range []struct {
			how, relation string
			victim        int
		}{
			{"kill", "known", 3}, {"kill", "strangers", 2}, {"kill", "known", 0}, {"kill", "strangers", 0},
			{"leave", "known", 1}, {"freeze", "known", 2},
		} {
			if testing.Short() && (c.how != "kill" || c.victim == 0) {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s/%d", c.how, c.relation, c.victim), func(t *testing.T) {
				t.Parallel()
				killed(t, medium, c.how, c.relation, c.victim)
			})
		}
	})
}

func killed(t *testing.T, medium, how, relation string, victim int) {
	list := strange
	if relation == "known" {
		list = between
	}
	options := byHand(t, len(list)+1, medium)
	var all []*proc.Process
	for rank := range len(list) + 1 {
		all = append(all, proc.StartWith(t, options(rank), "rank", how, victim, relation))
	}
	dead := all[victim]
	if how == "freeze" {
		untilState(t, dead, "T")
	} else {
		untilState(t, dead, "Z")
	}
	survivors := append(all[:victim:victim], all[victim+1:]...)
	for i, p := range survivors {
		if list[i].late {
			p.Say("now")
		}
	}
	dead.Kill()
	for _, p := range survivors {
		p.Hear("ended")
	}
	for _, p := range survivors {
		p.Say("leave")
	}
	for _, p := range survivors {
		if err := p.Wait(); err != nil {
			t.Error(err)
		}
	}
}

// untilState waits until a child, which its parent has not collected, is stopped (T) or dead (Z).
func untilState(t *testing.T, p *proc.Process, state string) {
	t.Helper()
	limit := time.NewTimer(proc.Patience)
	defer limit.Stop()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.PID()))
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), ") ")
		if strings.HasPrefix(rest, state) {
			return
		}
		select {
		case <-again.C:
		case <-limit.C:
			t.Fatalf("the victim does not get into state %s: %s", state, text)
		}
	}
}

func isGone(pid int) bool { return syscall.Kill(pid, 0) == syscall.ESRCH }
