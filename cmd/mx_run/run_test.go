package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gomx/cmd/internal/tooltest"
	"gomx/internal/testlength"
)

// command is mx_run with arguments, for ranks that play a role of this test.
func command(t *testing.T, role string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	c := exec.CommandContext(ctx, tooltest.Path, args...)
	c.Env = append(os.Environ(), roleKey+"="+role)
	c.WaitDelay = 10 * time.Second
	return c
}

// result runs mx_run and returns what came out.
func result(t *testing.T, c *exec.Cmd) (stdout, stderr string, code int) {
	t.Helper()
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func sortedLines(text string) []string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(lines)
	return lines
}

func TestRanks(t *testing.T) {
	for _, n := range []int{1, 2, 5, 16} {
		out, errs, code := result(t, command(t, "leave", "-n", fmt.Sprint(n), self(t)))
		var want []string
		for rank := range n {
			want = append(want, fmt.Sprintf("rank %d of %d", rank, n))
		}
		slices.Sort(want)
		if code != 0 || errs != "" || !slices.Equal(sortedLines(out), want) {
			t.Errorf("%d ranks: status %d, %q, %q", n, code, out, errs)
		}
	}
}

func TestLabels(t *testing.T) {
	out, errs, code := result(t, command(t, "leave", "-l", "-n", "12", self(t)))
	lines := sortedLines(out)
	if code != 0 || errs != "" || len(lines) != 12 || lines[0] != "[ 0] rank 0 of 12" || lines[11] != "[11] rank 11 of 12" {
		t.Errorf("status %d, %q, %q", code, lines, errs)
	}
	out, errs, _ = result(t, command(t, "", "-l", "-n", "2", "sh", "-c", "printf 'a\\n\\nb'; echo c >&2"))
	if !slices.Equal(sortedLines(out), []string{"[0] ", "[0] a", "[0] b", "[1] ", "[1] a", "[1] b"}) ||
		!slices.Equal(sortedLines(errs), []string{"[0] c", "[1] c"}) {
		t.Errorf("%q, %q", out, errs)
	}
}

func TestFailures(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	for _, c := range []struct {
		role string
		code int
		says string
	}{
		{"fail 2", 5, "rank 2 (process"},
		{"kill 1", 137, "was killed by signal 9"},
		{"vanish 3", 1, "ended without Finalize"},
		{"abort 0", 6, "aborted the job with code 6: no more of this"},
		{"absent 2", 1, "rank 2 (process"},
		{"early 2", 3, "exited with status 3"},
	} {
		_, errs, code := result(t, command(t, c.role, "-n", "4", self(t)))
		if code != c.code || !strings.Contains(errs, c.says) || !strings.Contains(errs, "; ending the other") {
			t.Errorf("%s: status %d, want %d, and %q, want %q", c.role, code, c.code, errs, c.says)
		}
	}
}

// TestNoProgram: what can't be started is named once, with what to do.
func TestNoProgram(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no program"), 0o644); err != nil {
		t.Fatal(err)
	}
	script, badScript := filepath.Join(t.TempDir(), "script"), filepath.Join(t.TempDir(), "script")
	for path, text := range map[string]string{script: "echo hello\n", badScript: "#!/nosuch/interpreter\n"} {
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	library := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module library\n", "library.go": "package library\n"} {
		if err := os.WriteFile(filepath.Join(library, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		script: "mx_run: starting rank 0: " + script + ": exec format error: no program of this machine: a script begins with #! and the path of its interpreter\n",
		badScript: "mx_run: starting rank 0: " + badScript + ": no such file or directory: its interpreter is not there: check the line that begins with #!, " +
			"or the dynamic linker that the program was built for\n",
		library:           "mx_run: " + library + " is a folder whose Go package is no program: name the folder of a package main\n",
		"./nosuch":        "mx_run: ./nosuch: no such file or directory: check the path, or build the program first\n",
		"nosuch-anywhere": "mx_run: nosuch-anywhere: executable file not found in $PATH: check the name, or write ./nosuch-anywhere for a program in this folder\n",
		text:              "mx_run: " + text + ": permission denied: name a program, which chmod +x makes of a file that is one\n",
	} {
		if _, errs, code := result(t, command(t, "", "-n", "2", name)); code != 1 || errs != want {
			t.Errorf("status %d, %q, want %q", code, errs, want)
		}
	}
}

// TestFewDescriptors: where mx_run has too few descriptors for its ranks it says what helps.
func TestFewDescriptors(t *testing.T) {
	c := command(t, "", "-n", "16", "sleep", "5")
	limited := exec.Command("sh", append([]string{"-c", `ulimit -n 20; exec "$0" "$@"`, c.Path}, c.Args[1:]...)...)
	limited.Env = c.Env
	if _, errs, code := result(t, limited); code != 1 || !strings.Contains(errs, "too many open files: raise the limit of open files (ulimit -n)") {
		t.Errorf("status %d, %q", code, errs)
	}
}

// TestSignalWhileBuilding: a signal that comes while a folder is built leaves nothing behind.
func TestSignalWhileBuilding(t *testing.T) {
	t.Parallel()
	tools, temporary, folder := t.TempDir(), t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(tools, "go"), []byte("#!/bin/sh\necho builds >&2\nexec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, "", "-n", "2", folder)
	cmd.Env = append(cmd.Env, "TMPDIR="+temporary, "PATH="+tools+":"+os.Getenv("PATH"))
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for in := bufio.NewScanner(said); in.Scan(); {
		if text.WriteString(in.Text()); in.Text() == "builds" {
			_ = cmd.Process.Signal(syscall.SIGTERM)
		}
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(text.String(), "nothing was started") {
		t.Errorf("%v, %q", err, text.String())
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("it has left %v, %v", left, err)
	}
}

// TestProgramBesideFolder: a name without a slash is that of a program in PATH, as it is to a shell, also where there is a folder of that name.
func TestProgramBesideFolder(t *testing.T) {
	cmd := command(t, "", "-n", "2", "true")
	cmd.Dir = t.TempDir()
	if err := os.Mkdir(filepath.Join(cmd.Dir, "true"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := result(t, cmd); code != 0 {
		t.Errorf("status %d, %q", code, errs)
	}
}

// TestOtherPrograms runs programs that know nothing of ranks.
func TestOtherPrograms(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	out, errs, code := result(t, command(t, "", "-n", "3", "sh", "-c", "echo $PMI_RANK of $PMI_SIZE"))
	if code != 0 || errs != "" || !slices.Equal(sortedLines(out), []string{"0 of 3", "1 of 3", "2 of 3"}) {
		t.Errorf("status %d, %q, %q", code, out, errs)
	}
	_, errs, code = result(t, command(t, "", "-n", "3", "sh", "-c", `[ "$PMI_RANK" = 1 ] && exit 4; sleep 100`))
	if code != 4 || !strings.Contains(errs, "rank 1 ") {
		t.Errorf("status %d, %q", code, errs)
	}
	c := command(t, "", "-n", "3", "cat")
	c.Stdin = strings.NewReader("for rank 0\n")
	if out, errs, code := result(t, c); out != "for rank 0\n" || code != 0 {
		t.Errorf("status %d, %q, %q", code, out, errs)
	}
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("\x00not a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, errs, code = result(t, command(t, "", "-n", "2", broken))
	if code != 1 || !strings.Contains(errs, "starting rank 0: ") {
		t.Errorf("status %d, %q", code, errs)
	}
}

// TestSecret: the ranks share a secret, also behind a shell, that is in no environment; one that mx_run was given comes first.
func TestSecret(t *testing.T) {
	for _, c := range []struct{ given, want string }{{"", ""}, {"sesame", fmt.Sprintf("secret %x", "sesame")}} {
		cmd := command(t, "secret", "-n", "3", "sh", "-c", `env | sed -n 's/^MX_SECRET=/environment /p'; "$0"; exit $?`, self(t))
		cmd.Env = append(cmd.Env, "MX_SECRET="+c.given)
		if c.given == "" {
			cmd.Env = cmd.Env[:len(cmd.Env)-1]
		}
		out, errs, code := result(t, cmd)
		secrets := slices.DeleteFunc(sortedLines(out), func(line string) bool { return !strings.HasPrefix(line, "secret ") })
		if code != 0 || len(secrets) != 3 || len(slices.Compact(secrets)) != 1 || c.want != "" && secrets[0] != c.want {
			t.Errorf("status %d, %q, %q", code, out, errs)
		}
		if c.given == "" && strings.Contains(out, "environment ") {
			t.Errorf("the secret is in the environment: %q", out)
		}
	}
}

// TestDescendants has ranks end before what they have started does.
func TestDescendants(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	for _, c := range []struct {
		name, script string
		code         int
	}{
		{"the rank fails", "sleep 1000 & echo $!; exit 3", 3},
		{"the rank ends well", "sleep 1000 & echo $!", 0},
		{"they are stubborn", `sh -c 'trap "" TERM; while :; do sleep 1; done' & echo $!; exit 3`, 3},
	} {
		if testing.Short() && c.name == "they are stubborn" { // it has grace
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out, errs, code := result(t, command(t, "", "-n", "2", "sh", "-c", c.script))
			if code != c.code {
				t.Errorf("status %d, %q", code, errs)
			}
			for _, line := range sortedLines(out) {
				pid, err := strconv.Atoi(line)
				if err != nil {
					t.Fatal(err)
				}
				if !isGone(pid) {
					t.Errorf("process %d is still there", pid)
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		})
	}
}

// isGone reports whether a process has ended. Nobody may have waited for it yet.
func isGone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

// TestPackage builds what it runs.
func TestPackage(t *testing.T) {
	testlength.Long(t)
	out, errs, code := result(t, command(t, "", "-n", "2", filepath.Join("..", "..", "integration", "launch", "exchange"), "-length", "9"))
	if code != 0 || strings.Count(out, "has all business cards, by mx_run, secret true") != 2 {
		t.Errorf("status %d, %q, %q", code, out, errs)
	}
	_, errs, code = result(t, command(t, "", "-n", "2", t.TempDir()))
	if code != 1 || !strings.Contains(errs, "go build") {
		t.Errorf("an empty folder: status %d, %q", code, errs)
	}
}

func TestBind(t *testing.T) {
	out, errs, code := result(t, command(t, "", "-bind", "-n", "3", "grep", "Cpus_allowed_list", "/proc/self/status"))
	if code != 0 && strings.Contains(errs, "does not bind") {
		t.Skip("this system cannot bind processes to cores; Linux can")
	}
	for _, line := range sortedLines(out) {
		if strings.ContainsAny(strings.TrimPrefix(line, "Cpus_allowed_list:"), ",-") {
			t.Errorf("a rank may run on more than one core: %q", line)
		}
	}
	if code != 0 || strings.Count(out, "\n") != 3 {
		t.Errorf("status %d, %q, %q", code, out, errs)
	}
}

// realTime is the first real-time signal of Linux that Go programs can hear of, SIGRTMIN+1.
const realTime = syscall.Signal(35)

// TestSignals sends mx_run a signal, which all ranks must get.
func TestSignals(t *testing.T) {
	for _, c := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGUSR1, 0}, {syscall.SIGTERM, 0}, {syscall.SIGALRM, 0}, {syscall.SIGWINCH, 0}, {syscall.SIGIO, 0}, {realTime, 0}} {
		cmd := command(t, "stay", "-n", "3", self(t))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ready, got := 0, 0
		for in := bufio.NewScanner(out); in.Scan(); {
			switch {
			case in.Text() == "ready":
				if ready++; ready == 3 {
					_ = cmd.Process.Signal(c.signal)
				}
			case strings.HasPrefix(in.Text(), "got "+c.signal.String()):
				got++
			}
		}
		_ = cmd.Wait()
		if got != 3 || cmd.ProcessState.ExitCode() != c.code {
			t.Errorf("%v: %d ranks got it, status %d", c.signal, got, cmd.ProcessState.ExitCode())
		}
	}
}

// TestSecondSignal: ranks that heed no signal are killed at the second one that asks for the end, and mx_run says that it was that. One that
// comes right behind the first is no second one: timeout(1) signals its child and the group.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	cmd := command(t, "deaf", "-n", "2", self(t))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := map[string]int{}
	for in := bufio.NewScanner(out); in.Scan(); {
		said[in.Text()]++
		switch { // both are ready; both have got it
		case in.Text() == "ready" && said["ready"] == 2:
			_ = cmd.Process.Signal(syscall.SIGHUP)
			time.Sleep(20 * time.Millisecond) // two signals that come at once are one
			_ = cmd.Process.Signal(syscall.SIGTERM)
		case in.Text() == "got hangup" && said["got hangup"] == 2:
			time.Sleep(500 * time.Millisecond)
			_ = cmd.Process.Signal(syscall.SIGHUP)
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 137 || !strings.Contains(errs.String(), "was killed, as a second signal asked for the end") {
		t.Errorf("%v, status %d, %q", said, code, errs.String())
	}
}

// TestSignalWhileStarting: a signal that comes when some ranks run already, and others don't, goes to all of them.
func TestSignalWhileStarting(t *testing.T) {
	t.Parallel()
	_, errs, code := result(t, command(t, "", "-n", "32", "sh", "-c", "kill -HUP $PPID; exec sleep 20"))
	if code != 129 && code != 137 || !strings.Contains(errs, "was killed") {
		t.Errorf("status %d, %q", code, errs)
	}
}

// TestKilled kills mx_run, with which all ranks must end.
func TestKilled(t *testing.T) {
	cmd := command(t, "stay", "-n", "3", self(t))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := 0
	for in := bufio.NewScanner(out); in.Scan(); { // until the last rank has let go of the pipe
		if in.Text() == "ready" {
			if ready++; ready == 3 {
				_ = cmd.Process.Kill()
			}
		}
	}
	_ = cmd.Wait()
	if ready != 3 {
		t.Errorf("%d ranks were ready", ready)
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"", "which program?"},
		{"-n 0 x", "-n 0"},
		{"-n 2 -f hosts x", "mpiexec.hydra -f HOSTFILE -n 2 x"},
		{"-n 2 -hosts a,b x", "srun --mpi=pmi2 -n 2 x"},
		{"-transport carrier-pigeon -n 1 x", "carrier-pigeon"},
		{"-wrong", "-h explains"},
	} {
		_, errs, code := result(t, command(t, "", strings.Fields(c.args)...))
		if code != 1 || !strings.Contains(errs, c.says) || !strings.HasPrefix(errs, "mx_run: ") {
			t.Errorf("%s: status %d, %q, want %q", c.args, code, errs, c.says)
		}
	}
	out, errs, code := result(t, command(t, "", "-h"))
	for _, word := range []string{"mpiexec.hydra", "srun", "-bind", "-transport", "-l "} {
		if code != 0 || errs != "" || !strings.Contains(out, word) {
			t.Errorf("-h: status %d, %q lacks %q", code, out, word)
		}
	}
	// Flags after the program are the program's.
	if out, _, code := result(t, command(t, "", "-n", "1", "echo", "-n", "-l")); code != 0 || out != "-l" {
		t.Errorf("flags of the program: status %d, %q", code, out)
	}
	if out, _, code := result(t, command(t, "", "-transport", "tcp", "-n", "1", "sh", "-c", "echo $MX_TRANSPORT")); code != 0 || out != "tcp\n" {
		t.Errorf("-transport: status %d, %q", code, out)
	}
}
