package nic_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gomx/transport/nic"
)

const inNamespace = "GOMX_NIC_TEST_NETNS"

// inOwnNetwork runs the named test again in a process that has a network
// namespace to itself, with nothing in it but a loopback interface that is down.
// It reports whether this already is that process.
func inOwnNetwork(t *testing.T) bool {
	t.Helper()
	if os.Getenv(inNamespace) != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), inNamespace+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Skipf("needs the right to make a network namespace (root, or unprivileged user namespaces): %v", err)
	}
	err := cmd.Wait()
	t.Logf("in a network namespace of its own:\n%s", output.String())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(output.String(), "--- SKIP") {
		t.Skip("skipped in the network namespace, for the reason above")
	}
	return false
}

func TestHostIsBoardZeroWithoutANetwork(t *testing.T) {
	if !inOwnNetwork(t) {
		return
	}
	d, err := nic.NewDirectory(nic.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Board(0)
	if err != nil || b.Kind != nic.Host || b.Name != "localhost:0" || b.ID.String() != "02:00:7f:00:00:01" || b.Up || b.State != "down" {
		t.Fatalf("board 0 is %+v, %v", b, err)
	}
	if boards := d.Boards(); len(boards) != 1 {
		t.Errorf("boards %+v", boards)
	}
	hostname, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{hostname, hostname + ":0", "localhost"} {
		if id, err := d.Resolve(t.Context(), name); err != nil || id != b.ID {
			t.Errorf("%q resolves to %s, %v", name, id, err)
		}
	}
}

func TestInterfacesOfANamespace(t *testing.T) {
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("needs the ip command of iproute2")
	}
	if !inOwnNetwork(t) {
		return
	}
	for _, args := range []string{
		"link set lo up",
		"link add docker0 type veth peer name veth0",
		"link add net0 type veth peer name net1",
		"addr add 172.17.0.1/16 dev docker0",
		"addr add 10.7.0.1/24 dev net0",
		"addr add 10.7.0.2/24 dev net0",
		"addr add fd07::1/64 dev net0 nodad",
		"addr add 169.254.3.3/16 dev veth0",
		"link set docker0 up", "link set veth0 up", "link set net0 up",
	} {
		if output, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Skipf("needs a kernel that takes \"ip %s\": %v: %s", args, err, output)
		}
	}
	boards, err := nic.Boards()
	for end := time.Now().Add(10 * time.Second); err == nil && len(boards) == 3 && !boards[1].Up && time.Now().Before(end); {
		time.Sleep(time.Millisecond) // the kernel looks for the carrier in its own time
		boards, err = nic.Boards()
	}
	if err != nil {
		t.Fatal(err)
	}
	// docker0 is not hardware; net0 looks like it but lacks a carrier; veth0 has
	// only link-local addresses and net1 none.
	if got, want := names(boards), []string{"net0", "docker0", "lo"}; !slices.Equal(got, want) {
		t.Fatalf("boards %q, want %q", got, want)
	}
	net0, docker0, host := boards[0], boards[1], boards[2]
	if net0.ID.String() != "02:00:0a:07:00:01" || len(net0.Addrs) != 3 || net0.Up || net0.State != "no carrier" {
		t.Errorf("net0 is %+v", net0)
	}
	if len(net0.MAC) != 6 || net0.MTU == 0 {
		t.Errorf("net0 is %+v", net0)
	}
	if !docker0.Up || docker0.State != "up" {
		t.Errorf("docker0 is %+v", docker0)
	}
	if !host.Up || len(host.Addrs) != 2 {
		t.Errorf("the host is %+v", host)
	}
}
