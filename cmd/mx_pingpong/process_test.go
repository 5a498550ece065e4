package main_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gomx/cmd/internal/tooltest"
	"gomx/internal/testlength"
	"gomx/mx"
)

// receiver starts `mx_pingpong -s` on a free endpoint of board 0, which localhost
// stands for, and returns its id.
func receiver(t *testing.T, args ...string) (cmd *exec.Cmd, endpoint string) {
	t.Helper()
	needShm(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	cmd = exec.CommandContext(ctx, tooltest.Path, append([]string{"-s", "-b", "0", "-e", fmt.Sprint(mx.AnyEndpoint)}, args...)...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait()
	})
	said, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(said, "Starting pingpong receiver on ") {
		t.Fatalf("receiver said %q, %v", said, err)
	}
	_, endpoint, _ = strings.Cut(strings.TrimSpace(said), ", endpoint=")
	return cmd, endpoint
}

func TestSenderAndReceiver(t *testing.T) {
	_, endpoint := receiver(t)
	out := measured(t, "-d", "localhost", "-r", endpoint, "-N", "20", "-E", "4")
	if lines := strings.Split(strings.TrimSpace(out), "\n"); len(lines) != 2+4 {
		t.Errorf("MX measures 0, 1, 2 and 3 bytes:\n%s", out)
	}
	measured(t, "-d", "localhost", "-r", endpoint, "-single", "-N", "20", "-E", "4", "-V", "-window", "5")
	// The receiver stays, and takes its orders from each sender anew.
	results := jsonLines(t, "-d", "localhost", "-r", endpoint, "-N", "20", "-S", "100000", "-E", "100001", "-V", "-window", "5", "-posted", "3", "-unexpected", "4", "-alloc")
	if len(results) != 1 || results[0].Rate <= 0 {
		t.Errorf("%+v", results)
	}
}

func TestFilters(t *testing.T) {
	_, endpoint := receiver(t, "-f", "7")
	o := run(t, "-d", "localhost", "-r", endpoint)
	if o.status != 1 || !strings.Contains(o.stderr, "same -f") {
		t.Errorf("status %d, %q", o.status, o.stderr)
	}
	measured(t, "-d", "localhost", "-r", endpoint, "-f", "7", "-N", "5", "-E", "2")
}

func TestNobodyThere(t *testing.T) {
	needShm(t)
	o := run(t, "-d", "localhost", "-r", "4095")
	if o.status != 1 || !strings.Contains(o.stderr, "mx_pingpong -s -e 4095") {
		t.Errorf("status %d, %q", o.status, o.stderr)
	}
}

func TestEndpointTaken(t *testing.T) {
	_, endpoint := receiver(t)
	o := run(t, "-s", "-b", "0", "-e", endpoint)
	if o.status != 1 || !strings.Contains(o.stderr, "busy: endpoint ") {
		t.Errorf("status %d, %q", o.status, o.stderr)
	}
}

// A receiver outlives a sender that is killed among its messages.
func TestSenderDies(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	_, endpoint := receiver(t)
	sender, end := endless(t, "-d", "localhost", "-r", endpoint, "-window", "9")
	if err := sender.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	end()
	measured(t, "-d", "localhost", "-r", endpoint, "-N", "20", "-E", "4", "-V")
}

func TestReceiverDies(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	it, endpoint := receiver(t)
	_, end := endless(t, "-d", "localhost", "-r", endpoint)
	if err := it.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if o := end(); o.status != 1 || o.stderr == "" {
		t.Errorf("status %d, %q", o.status, o.stderr)
	}
}

func TestInterrupt(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	needShm(t)
	for _, args := range [][]string{nil, {"-single"}} {
		sender, end := endless(t, args...)
		if err := sender.Process.Signal(os.Interrupt); err != nil {
			t.Skipf("no signals here: %v", err)
		}
		if o := end(); o.status != 1 || !strings.Contains(o.stderr, "interrupted") {
			t.Errorf("%v: status %d, %q", args, o.status, o.stderr)
		}
	}
}

// Both processes inherit the pipe, so it ends when both have ended.
func TestSecondProcessEndsWithTheFirst(t *testing.T) {
	needShm(t)
	cmd := exec.CommandContext(t.Context(), tooltest.Path, "-N", fmt.Sprint(1<<30))
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	cmd.ExtraFiles = []*os.File{write}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if err := read.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, read); err != nil {
		t.Errorf("the second process goes on: %v", err)
	}
}

// endless starts a sender that has much to do, and returns when it is about it.
func endless(t *testing.T, args ...string) (*exec.Cmd, func() outcome) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	var stderr strings.Builder
	cmd := exec.CommandContext(ctx, tooltest.Path, append(args, "-N", fmt.Sprint(1<<30))...)
	cmd.Stdout, cmd.Stderr = write, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = write.Close()
	if said, err := bufio.NewReader(read).ReadString('\n'); err != nil {
		t.Fatalf("said %q, %v", said, err)
	}
	return cmd, func() outcome {
		_ = cmd.Wait()
		if ctx.Err() != nil {
			t.Fatalf("mx_pingpong %v hangs", args)
		}
		return outcome{stderr: stderr.String(), status: cmd.ProcessState.ExitCode()}
	}
}

// Of several transports the one that is used is named, and why it is not the first.
func TestSeveralTransports(t *testing.T) {
	for _, tr := range mx.Transports() {
		if tr.Name == "tcp" && !tr.Available {
			t.Skipf("TCP: %s", tr.Reason)
		}
	}
	const rare = "2918" // the low ids may be those of other programs in shared memory
	_, endpoint := receiver(t, "-transport", "tcp", "-e", rare)
	args := []string{"-d", "localhost", "-r", endpoint, "-N", "20", "-S", "8", "-E", "9"}
	names := []string{"shm"}
	if mx.RDMA().Available {
		names = append(names, "rdma")
	}
	args = append(args, "-transport", strings.Join(names, ",")+",tcp")
	text, results := measured(t, args...), jsonLines(t, args...)
	if len(results) != 1 || results[0].Transport != "tcp" {
		t.Fatalf("%+v", results)
	}
	if !strings.Contains(text, " over tcp, the other on localhost") || !strings.Contains(text, "\nNot over a preferred transport: ") {
		t.Errorf("%s", text)
	}
	for _, name := range names {
		if !strings.Contains(text, name+": ") || !strings.Contains(results[0].Instead, name+": ") {
			t.Errorf("nothing about %s in %q and\n%s", name, results[0].Instead, text)
		}
	}
	args[len(args)-1] = "tcp"
	if text, results := measured(t, args...), jsonLines(t, args...); strings.Contains(text, "Not over") || results[0].Instead != "" {
		t.Errorf("%+v\n%s", results, text)
	}
}

func TestTwoProcessesOverRDMA(t *testing.T) {
	if r := mx.RDMA(); !r.Available {
		t.Skip(r.Reason)
	}
	results := jsonLines(t, "-transport", "rdma", "-V", "-N", "5", "-S", "1", "-E", "2000000", "-M", "100")
	if len(results) != 4 || results[0].Transport != "rdma" || results[0].Instead != "" {
		t.Errorf("%+v", results)
	}
}
