package main

import (
	"fmt"
	"strings"
	"testing"
)

// jobOf64 is a view of a job in which each rank sends to the next.
func jobOf64() *view {
	v := &view{Jobs: []job{{ID: "0123456789abcdef", Command: "ring", Size: 64, Verdict: []string{"no cycle"}}}}
	for n := range 64 {
		name, next := fmt.Sprintf("vm:0/%d", n), fmt.Sprintf("vm:0/%d", (n+1)%64)
		v.Endpoints = append(v.Endpoints, row{Name: name, PID: 100 + n, Rank: n, Sent: float64(n), Transports: "shm", Command: "ring"})
		v.Jobs[0].Ranks = append(v.Jobs[0].Ranks, rank{Rank: n, Endpoint: name, State: "not blocked in an MPI call", Lines: []string{"not blocked in an MPI call"}})
		v.Talk = append(v.Talk, pair{From: name, To: next, Frames: 10, Rate: 100, Transport: "shm"})
	}
	return v
}

// TestMatrixOf64 fits into a terminal of 80 columns, with a letter for each pair.
func TestMatrixOf64(t *testing.T) {
	lines := jobOf64().matrixLines()
	if want := strings.Repeat(" ", 16) + "111111111122222222223333333333444444444455555555556666"; lines[1] != want {
		t.Errorf("the tens: %q", lines[1])
	}
	for rank, line := range lines[3 : 3+64] {
		if len(line) > 80 || line[6+(rank+1)%64] != shades[len(shades)-1] || strings.Count(line, "@") != 1 {
			t.Errorf("rank %d: %q", rank, line)
		}
	}
}

// TestScroll shows all of a long table on a small screen, and nothing beyond it.
func TestScroll(t *testing.T) {
	s, v := &screen{}, jobOf64()
	text := func() string { return s.frame(v, 80, 24) }
	if first := text(); !strings.Contains(first, "vm:0/0 ") || strings.Contains(first, "vm:0/40") || strings.Count(first, "\r\n") != 23 {
		t.Errorf("%q", first)
	}
	s.press("G")
	if last := text(); !strings.Contains(last, "vm:0/63") || strings.Contains(last, "vm:0/0 ") {
		t.Errorf("%q", last)
	}
	s.press("\x1b[B")
	s.press("g")
	if first := text(); !strings.Contains(first, "vm:0/0 ") {
		t.Errorf("%q", first)
	}
	s.press("s") // by rate
	if first := text(); !strings.Contains(first, "vm:0/63") {
		t.Errorf("%q", first)
	}
	for _, size := range [][2]int{{1, 1}, {10, 2}, {0, 0}} {
		s.frame(v, size[0], size[1])
	}
	if s.press("q") {
		t.Error("q does not end it")
	}
}

// TestHosts are what a browser may call the server.
func TestHosts(t *testing.T) {
	for _, c := range []struct{ asked, listening, want, not string }{
		{"127.0.0.1:0", "127.0.0.1:8080", "localhost:8080", "evil:8080"},
		{"node7:8080", "192.0.2.7:8080", "node7:8080", "localhost:8080"},
		{"[::1]:80", "[::1]:80", "[::1]", "localhost:8080"},
	} {
		hosts := strings.Join(hostsOf(c.asked, c.listening), " ") + " "
		if !strings.Contains(hosts, c.want+" ") || strings.Contains(hosts, c.not+" ") {
			t.Errorf("%s: %q", c.asked, hosts)
		}
	}
}
