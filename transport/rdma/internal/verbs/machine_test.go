//go:build linux && cgo

package verbs_test

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"gomx/transport/rdma/internal/verbs"
)

// These tests want a machine of their own: they take a port down, and count what
// all processes have.
func requireVM(t *testing.T) {
	t.Helper()
	if os.Getenv("GOMX_RDMAVM_HOST") == "" {
		t.Skip("needs the machine of integration/rdmavm: elsewhere it would disturb others")
	}
}

// resources is what the system says of all queue pairs, regions and so on.
func resources(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("rdma", "resource", "show").CombinedOutput()
	if err != nil {
		t.Fatalf("rdma resource show: %v\n%s", err, out)
	}
	return string(out)
}

// TestNothingLeft: what is closed is gone.
func TestNothingLeft(t *testing.T) {
	requireVM(t)
	before := resources(t)
	t.Run("open", func(t *testing.T) {
		b := newPair(t)
		b.register(make([]byte, 1<<20), verbs.LocalWrite)
		if during := resources(t); during == before {
			t.Errorf("an open connection does not show:\n%s", during)
		}
	})
	if after := resources(t); after != before {
		t.Errorf("before:\n%safter:\n%s", before, after)
	}
}

// isVictim is set in the environment of the process that TestKilled starts.
const isVictim = "VERBS_TEST_VICTIM"

// TestKilled: a process that is killed leaves nothing.
func TestKilled(t *testing.T) {
	if os.Getenv(isVictim) != "" {
		b := newPair(t)
		b.register(make([]byte, 1<<20), verbs.LocalWrite)
		_, _ = os.Stdout.WriteString("ready\n")
		time.Sleep(patience)
		t.Fatal("nobody killed us")
	}
	requireVM(t)
	before := resources(t)
	self, err := os.Executable()
	check(t, err)
	cmd := exec.Command(self, "-test.run=^TestKilled$")
	cmd.Env = append(os.Environ(), isVictim+"=1")
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	line, _ := bufio.NewReader(out).ReadString('\n')
	during := resources(t)
	check(t, cmd.Process.Kill())
	_ = cmd.Wait()
	if line != "ready\n" || during == before {
		t.Fatalf("the other process says %q, and has\n%s", line, during)
	}
	for begin := time.Now(); resources(t) != before; time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > patience {
			t.Fatalf("before:\n%safter:\n%s", before, resources(t))
		}
	}
}

// TestPortDownAndUp: the device tells, and the connection goes on after it.
func TestPortDownAndUp(t *testing.T) {
	requireVM(t)
	b := newPair(t)
	set := func(state string) {
		t.Helper()
		if out, err := exec.Command("ip", "link", "set", b.port.Interface, state).CombinedOutput(); err != nil {
			t.Fatalf("ip link: %v\n%s", err, out)
		}
	}
	t.Cleanup(func() { set("up") })
	set("down")
	b.awaitEvent(verbs.PortDown)
	if state, err := b.device.Port(b.port.Number); err != nil || state.Active {
		t.Errorf("a port that is down: %+v, %v", state, err)
	}
	set("up")
	b.awaitEvent(verbs.PortActive)
	mem := b.register(content(make([]byte, 16), 1), verbs.LocalWrite)
	b.b.receives.Add(1, mem.Piece(8, 8))
	b.b.post()
	b.a.sends.Send(2, verbs.Signaled, mem.Piece(0, 8))
	b.a.post()
	b.b.awaitDone(verbs.Received, 1)
	b.a.awaitDone(verbs.Sent, 2)
}

func (b *bench) awaitEvent(want verbs.Event) {
	b.t.Helper()
	var seen []string
	for begin := time.Now(); time.Since(begin) < patience; time.Sleep(time.Millisecond) {
		e, port, ok, err := b.device.NextEvent()
		check(b.t, err)
		if ok && e == want && port == b.port.Number {
			return
		}
		if ok {
			seen = append(seen, e.String())
		}
	}
	b.t.Fatalf("waited in vain for %q, got %q", want, strings.Join(seen, ", "))
}
