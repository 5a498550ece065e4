//go:build linux

package top

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gomx/integration/internal/proc"
)

// garbage is what a process of this user may answer that is none of ours, or is broken. PID in it is the number of the process.
var garbage = []struct {
	name   string
	answer func(net.Conn)
	sense  bool // it could be that of an odd process
}{
	{"nothing", func(net.Conn) {}, false},
	{"a greeting", say("SSH-2.0-OpenSSH_9.9\r\n"), false},
	{"random bytes", func(c net.Conn) { _, _ = io.CopyN(c, random{}, 1<<20) }, false},
	{"half an answer", say(`{"pid":PID,"command":"x","endpoints":[{"name":"vm:0/0","peers":[{"na`), false},
	{"another type", say(`{"pid":"seven","endpoints":3}`), false},
	{"a list", say(`[1,2,3]`), false},
	{"null", say(`null`), false},
	{"an object", say(`{}`), false},
	{"another process", say(`{"pid":1,"endpoints":[]}`), false},
	{"more behind it", say(`{"pid":PID,"endpoints":[]} x`), false},
	{"deeply nested", say(strings.Repeat(`[`, 1<<20)), false},
	{"nested endpoints", say(`{"pid":PID,"endpoints":` + strings.Repeat(`[{"endpoints":`, 1<<17)), false},
	{"no end", func(c net.Conn) {
		for zeros := make([]byte, 1<<20); ; {
			if _, err := c.Write(zeros); err != nil {
				return
			}
		}
	}, false},
	{"one byte at a time", func(c net.Conn) {
		for {
			if _, err := c.Write([]byte{'{'}); err != nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}, false},
	{"nested in what nobody knows", say(`{"pid":PID,"unknown":` + strings.Repeat(`[`, 9000) + strings.Repeat(`]`, 9000) + `}`), true},
	{"wild times", say(`{"pid":PID,"taken":"9999-12-31T23:59:59Z","endpoints":[{"name":"a","opened":"0000-01-01T00:00:00Z"}]}`), true},
	{"wild numbers", say(`{"pid":PID,"command":"x","endpoints":[{"name":"vm:0/0","board":4294967295,"endpoint":4294967295,"depths":{"posted":-1,"pending":-9223372036854775808,
		"unexpected":9223372036854775807,"unexpected_bytes":-1,"unexpected_bound":0},"pending":[{"kind":"recv","peer":"vm:0/0","age":-1e308,"bytes":4294967295,"stage":"x"},
		{"kind":"send","peer":"b","age":1e308,"stage":"y"}],"counters":[{"name":"messages_sent","value":18446744073709551615}],"peers":[{"name":"b","frames_sent":4294967295}]}]}`), true},
	{"escapes", say(`{"pid":PID,"command":"\u001b[2Jx","endpoints":[{"name":"\u001b]0;owned\u0007\u009b2J","transports":["\u001b[31m"],"peers":[{"name":"\u001b[1m",
		"frames_sent":1,"failure":"\u001b[2J"}],"pending":[{"kind":"\u001b[2J","peer":"\u001b[2J","stage":"\u001b[2J","age":9}]}]}`), true},
}

func say(text string) func(net.Conn) {
	return func(c net.Conn) { _, _ = io.WriteString(c, strings.ReplaceAll(text, "PID", fmt.Sprint(os.Getpid()))) }
}

// random reads as bytes that are always the same.
type random struct{}

func (random) Read(b []byte) (int, error) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return len(b), nil
}

// babble listens where tools ask this process, and answers everybody the same.
func babble(t *testing.T, answer func(net.Conn)) {
	t.Helper()
	l, err := net.Listen("unix", fmt.Sprintf("@gomx-live/%d/%d/%016x", os.Geteuid(), os.Getpid(), rand.Uint64()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = bufio.NewReader(c).ReadString('\n')
				answer(c)
			}()
		}
	}()
}

// readers are command lines of tools that read one process.
func readers(pid int) [][]string {
	p := fmt.Sprint(pid)
	return [][]string{
		{"mx_top", "-once", "-w", "100ms", "-p", p}, {"mx_top", "-json", "-w", "100ms", "-p", p},
		{"mx_counters", "-p", p}, {"mx_counters", "-p", p, "-v", "-json"}, {"mx_counters", "-p", p, "-w", "10ms", "-n", "3"},
		{"mx_endpoint_info", "-p", p, "-v"}, {"mx_endpoint_info", "-p", p, "-json"},
		{"mx_info", "-live", "-p", p}, {"mx_info", "-live", "-p", p, "-json"},
	}
}

func buildReaders(t *testing.T) (tools string) {
	return proc.Build(t, "cmd/mx_run", "cmd/mx_top", "cmd/mx_counters", "cmd/mx_endpoint_info", "cmd/mx_info")
}

// read has all tools read a process at the same time. Each must end by itself.
func read(t *testing.T, tools string, pid int, check func(args []string, text string, status int)) {
	t.Helper()
	var wait sync.WaitGroup
	defer wait.Wait()
	for _, args := range readers(pid) {
		wait.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			cmd := exec.CommandContext(ctx, filepath.Join(tools, args[0]), args[1:]...)
			out, err := cmd.CombinedOutput()
			if ctx.Err() != nil || cmd.ProcessState == nil {
				t.Errorf("%v does not end: %v\n%.1000s", args, err, out)
				return
			}
			check(args, string(out), cmd.ProcessState.ExitCode())
		})
	}
}

// TestGarbage has tools read a process that answers garbage: each says which process it is and exits with 1, or prints what it makes of
// an odd one, without escapes for the terminal.
func TestGarbage(t *testing.T) {
	long(t)
	t.Parallel()
	tools := buildReaders(t)
	for _, c := range garbage {
		t.Run(c.name, func(t *testing.T) {
			babble(t, c.answer)
			read(t, tools, os.Getpid(), func(args []string, text string, status int) {
				if strings.Contains(text, "panic") || strings.Contains(text, "goroutine ") || strings.ContainsAny(text, "\x1b\u009b\x07") || len(text) > 1<<16 {
					t.Errorf("%v: %d bytes: %.2000q", args, len(text), text)
				}
				if want := map[bool]int{false: 1, true: 0}[c.sense]; status != want || !c.sense && !strings.Contains(text, fmt.Sprintf("process %d", os.Getpid())) {
					t.Errorf("%v: status %d, want %d:\n%.2000s", args, status, want, text)
				}
			})
		})
	}
}

// TestStoppedProcess has tools read a process that is stopped, and one that is not there any more.
func TestStoppedProcess(t *testing.T) {
	long(t)
	t.Parallel()
	tools := buildReaders(t)
	s := play(t, tools, "stopped", 2)
	says := func(what string) {
		t.Helper()
		read(t, tools, s.pids[1], func(args []string, text string, status int) {
			if status != 1 || !strings.Contains(text, what) {
				t.Errorf("%v: status %d, want %q:\n%.2000s", args, status, what, text)
			}
		})
	}
	proc.StopThreads(t, s.pids[1])
	says("it does not answer: it is stopped, or very busy")
	watchBeside(t, tools, s)
	if err := syscall.Kill(s.pids[1], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for s.job.Hear("") != "" && syscall.Kill(s.pids[1], 0) == nil { // until it is reaped
	}
	says("there is no such process")
}

// watchBeside reads the counters of all processes a hundred times while rank 1 is stopped. If each reading waited for it, that would take minutes.
func watchBeside(t *testing.T, tools string, s *scene) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // a busy machine has them slow, too
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(tools, "mx_counters"), "-e", "-json", "-w", "10ms", "-n", "100")
	var lines, complaints strings.Builder
	cmd.Stdout, cmd.Stderr = &lines, &complaints
	_ = cmd.Run()
	if n, status := strings.Count(lines.String(), "\n"), cmd.ProcessState.ExitCode(); n != 100 || status != 1 ||
		!strings.Contains(complaints.String(), fmt.Sprintf("process %d: it does not answer", s.pids[1])) {
		t.Errorf("%d readings, status %d: %s", n, status, complaints.String())
	}
	if !strings.Contains(lines.String(), fmt.Sprintf("pid %d", s.pids[0])) {
		t.Error("the other rank is not shown")
	}
}
