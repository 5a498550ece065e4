//go:build linux

package top

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gomx/integration/internal/proc"
	"gomx/mpi"
)

// compared are the commands whose samples were asked for.
var compared = map[string]bool{}

// samples returns all commands that the pages of the tools show output of.
func samples(t *testing.T) (commands []string) {
	t.Helper()
	pages, err := filepath.Glob("../../docs/tools/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal(pages, err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		for i, line := range lines[:len(lines)-1] {
			command, is := strings.CutPrefix(line, "    $ ")
			if output, some := strings.CutPrefix(lines[i+1], "    "); is && some && !strings.HasPrefix(output, "$ ") {
				commands = append(commands, command)
			}
		}
	}
	return commands
}

// sampleOf returns what a page of docs/tools shows that a command prints.
func sampleOf(t *testing.T, command string) string {
	t.Helper()
	tool, _, _ := strings.Cut(command, " ")
	page, err := os.ReadFile("../../docs/tools/" + tool + ".md")
	if err != nil {
		t.Fatal(err)
	}
	compared[command] = true
	_, rest, is := strings.Cut(string(page), "\n    $ "+command+"\n")
	if !is {
		t.Fatalf("the page of %s has no sample of %q", tool, command)
	}
	var sample []string
	for line := range strings.Lines(rest) {
		text, inside := strings.CutPrefix(line, "    ")
		if !inside && strings.TrimSpace(line) != "" || strings.HasPrefix(text, "$ ") {
			break
		}
		sample = append(sample, text)
	}
	return strings.TrimRight(strings.Join(sample, ""), "\n")
}

// alike are things that differ from run to run and from machine to machine, with what stands for all of them.
var alike = []struct {
	*regexp.Regexp
	as string
}{
	{regexp.MustCompile(`Running (\d+ iterations (of )?)?`), "Running "},
	{regexp.MustCompile(`, on cores \d+ and \d+`), ""},
	{regexp.MustCompile(`http://\S+`), "URL"},
	{regexp.MustCompile(`\b0x[0-9a-f]+\b`), "0"},
	{regexp.MustCompile(`\b[0-9a-f]{16}\b`), "0"},
	{regexp.MustCompile(`\b[0-9a-f]{2}(:[0-9a-f]{2}){5}\b`), "NIC"},
	{regexp.MustCompile(`(up|down) +[0-9a-f.:]+(, [0-9a-f.:]+)*`), "up ADDRESSES"},
	{regexp.MustCompile(`\S+:\d+(/\d+)?\b`), "vm:0"},
	{regexp.MustCompile(`^\S+ \(board #\d+ name \S+\)`), "vm (board"},
	{regexp.MustCompile(`\((\S+) NIC\)`), "(eth NIC)"},
	{regexp.MustCompile(`^(tcp +)\d+ \(\S+\) +(network|host) `), "$1 0 (eth0) network "},
	{regexp.MustCompile(`^rdma: .*`), "rdma: why"}, // the machine decides
	{regexp.MustCompile(`\d+(\.\d+)?((ns|µs|ms|s|m|h)\d*(\.\d+)?)+\b`), "0"},
	{regexp.MustCompile(`\d+(\.\d+)? [kMGT]?B\b`), "0"},
	{regexp.MustCompile(`[-+]?\d+(\.\d+)?`), "0"},
	{regexp.MustCompile(` -( |$)`), " 0$1"}, // too few for this percentile, or no rank
	{regexp.MustCompile(`\b(shm|tcp|rdma|mem)(,(shm|tcp|rdma|mem))*\b`), "TRANSPORT"},
	{regexp.MustCompile(` +`), " "},
}

// shape returns the lines of a text without what may differ, each once and in alphabetical order: which of the rows of a table comes first may
// differ as well.
func shape(text string) []string {
	var lines []string
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		line = strings.TrimSpace(line)
		for range 2 { // neighbours share a space
			for _, a := range alike {
				line = a.ReplaceAllString(line, a.as)
			}
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

// traced runs a job of four ranks, and returns the folder of its traces. A busy machine slows down other ranks than those that are meant to be slow;
// so whoever expects a certain report asks for several.
func traced(t *testing.T, tools, role string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(tools, "mx_run"), "-n", "4", self)
	cmd.Env = append(os.Environ(), roleKey+"="+role, "MX_TRACE="+folder, "MX_TRACE_BYTES=256K")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return folder
}

// prints runs a tool, which must succeed.
func prints(t *testing.T, tools, tool string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, filepath.Join(tools, tool), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", tool, args, err, out)
	}
	return string(out)
}

func init() {
	// late has rank 2 come late to each collective. It sleeps, so that a busy machine doesn't hold up the others as much as that.
	programs["late"] = func(world *mpi.Comm) error {
		for range 10 {
			if world.Rank() == 2 {
				time.Sleep(100 * time.Millisecond)
			}
			if err := mpi.Allreduce(world, []int{1}, make([]int, 1), mpi.Sum); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestSamples runs what the pages of the tools show samples of, and compares titles, columns and words: all that is no number, no name of
// this machine, and no time.
func TestSamples(t *testing.T) {
	t.Parallel()
	long(t)
	tools := proc.Build(t, "cmd/mx_run", "cmd/mx_top", "cmd/mx_counters", "cmd/mx_endpoint_info", "cmd/mx_hostname", "cmd/mx_pingpong",
		"cmd/mx_stream", "cmd/mx_msg_loop", "cmd/mx_trace", "cmd/mx_info")
	// quick are options that let a measurement end soon.
	for _, c := range []struct{ command, quick string }{
		{"mx_hostname -v", ""}, {"mx_hostname -d 198.51.100.7", ""}, {"mx_msg_loop -E 700000", "-A 1 -I 350000"},
		{"mx_info -want heals,size=1G,reach=host", ""},
		{"mx_pingpong -histogram -S 8 -E 9", "-N 100"}, {"mx_pingpong -mode atomic -E 65", "-N 100"}, {"mx_stream -x -l 8,8192,1048576", "-N 100"},
	} {
		t.Run(c.command, func(t *testing.T) {
			words := strings.Fields(c.command + " " + c.quick)
			same(t, c.command, func() string { return prints(t, tools, words[0], words[1:]...) })
		})
	}
	crossed := play(t, tools, "crossed", 2)
	t.Run("mx_top -once", func(t *testing.T) {
		same(t, "mx_top -once", func() string {
			text, _ := crossed.top(t.Context(), t, "-once", "-w", "100ms", "-p", crossed.these())
			return strings.ReplaceAll(text, "top.test", "crossed")
		})
	})
	t.Run("mx_top -http 127.0.0.1:8080", func(t *testing.T) {
		same(t, "mx_top -http 127.0.0.1:8080", func() string { return crossed.serve(t) })
	})
	t.Run("mx_endpoint_info", func(t *testing.T) {
		same(t, "mx_endpoint_info", func() string {
			return strings.ReplaceAll(prints(t, tools, "mx_endpoint_info", "-p", fmt.Sprint(crossed.pids[0])), "top.test", "mpi_ring")
		})
		command := "mx_endpoint_info -p 3731 -v | tail -n 4"
		same(t, command, func() string {
			lines := strings.Split(strings.TrimRight(prints(t, tools, "mx_endpoint_info", "-p", fmt.Sprint(crossed.pids[1]), "-v"), "\n"), "\n")
			// The endpoint of the rank is not the last one where other programs have had the low ids.
			recv := slices.IndexFunc(lines, func(l string) bool {
				l = strings.TrimSpace(l)
				return strings.HasPrefix(l, "recv ") && !strings.HasPrefix(l, "recv anyone ")
			})
			return strings.Join(append(lines[max(0, recv-2):recv+1:recv+1], lines[len(lines)-1]), "\n")
		})
	})
	t.Run("mx_counters", func(t *testing.T) {
		row := regexp.MustCompile(`(?m)^(\d{3}): +\d+ (.*)$`)
		printed := prints(t, tools, "mx_counters", "-p", fmt.Sprint(crossed.pids[0]), "-v")
		known := map[string]string{}
		for _, m := range row.FindAllStringSubmatch(printed, -1) {
			known[m[1]] = m[2]
		}
		sample := sampleOf(t, "mx_counters")
		for _, m := range row.FindAllStringSubmatch(sample, -1) {
			if known[m[1]] != m[2] {
				t.Errorf("counter %s is %q, and on the page %q", m[1], known[m[1]], m[2])
			}
		}
		title := func(text string) []string {
			above, _, _ := strings.Cut(text, "\n000:")
			return shape(above)
		}
		if want, got := title(sample), title(printed); !slices.Equal(want, got) || !row.MatchString(sample) {
			t.Errorf("the title is %q, and on the page %q", got, want)
		}
	})
	t.Run("mx_trace -n 3 traces", func(t *testing.T) {
		same(t, "mx_trace -n 3 traces", func() string { return prints(t, tools, "mx_trace", "-n", "3", traced(t, tools, "late")) })
		page, err := os.ReadFile("../../docs/tracing.md")
		if sample := sampleOf(t, "mx_trace -n 3 traces"); err != nil || !strings.Contains(strings.ReplaceAll(string(page), "\n    ", "\n"), sample) {
			t.Errorf("docs/tracing.md shows another report than the page of mx_trace: %v", err)
		}
	})
	some := strings.Contains(flag.Lookup("test.run").Value.String(), "/") // of the samples are looked at
	for _, command := range samples(t) {
		if !compared[command] && !some && !t.Failed() {
			t.Errorf("nothing compares the sample of %q with what it prints", command)
		}
	}
}

// same wants what is printed to have the shape of the sample of a command, now or after a while: what a job does may not show at once, or be another thing on a busy machine.
func same(t *testing.T, command string, printed func() string) {
	t.Helper()
	want := shape(sampleOf(t, command))
	for end := time.Now().Add(30 * time.Second); ; {
		text := printed()
		got := shape(text)
		switch {
		case slices.Equal(want, got):
			return
		case time.Now().After(end):
			t.Fatalf("%s prints\n%s\nwhose shape is\n%s\nand on the page it is\n%s", command, text, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
