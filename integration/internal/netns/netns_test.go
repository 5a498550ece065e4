//go:build linux

package netns_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gomx/integration/internal/netns"
	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
)

func TestMain(m *testing.M) {
	proc.Main(m, map[string]proc.Role{"server": server, "caller": caller, "maker": maker})
}

// server says its host's name to whoever calls.
func server(c *proc.Child) {
	l, err := net.Listen("tcp", ":7000")
	if err != nil {
		c.Fail(err)
	}
	name, err := os.Hostname()
	if err != nil {
		c.Fail(err)
	}
	c.Say("listening")
	for {
		called, err := l.Accept()
		if err != nil {
			c.Fail(err)
		}
		_, _ = called.Write([]byte(name))
		_ = called.Close()
	}
}

// caller calls servers: each line is an address, each answer what a server said
// or why there was none.
func caller(c *proc.Child) {
	for {
		to := c.Hear()
		ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
		called, err := new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(to, "7000"))
		cancel()
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
			c.Say("silence")
		case err != nil:
			c.Say("%v", err)
		default:
			b := make([]byte, 100)
			n, _ := called.Read(b)
			c.Say("%s", b[:n])
			_ = called.Close()
		}
	}
}

// call has a caller call until it gets the answer. The kernel asks for lost
// neighbours once a second only.
func call(t *testing.T, from *proc.Process, to, want string) {
	t.Helper()
	for range 20 {
		from.Say("%s", to)
		got := from.Hear("")
		if strings.Contains(got, want) {
			return
		}
		t.Logf("%s: %q", to, got)
	}
	t.Fatalf("%s never says %q", to, want)
}

func TestHosts(t *testing.T) {
	testlength.Long(t)
	n := netns.New(t, netns.Options{Hosts: 3, Decoy: netns.DeadEnd})
	a, b, third := n.Hosts[0], n.Hosts[1], n.Hosts[2]
	for _, h := range []*netns.Host{b, third} {
		proc.StartWith(t, proc.Options{Under: h.Under()}, "server").Hear("listening")
	}
	from := proc.StartWith(t, proc.Options{Under: a.Under()}, "caller")
	call(t, from, b.V4.String(), b.Name)
	call(t, from, third.V4.String(), third.Name)
	if netns.HasV6() {
		call(t, from, b.V6.String(), b.Name)
	}
	call(t, from, a.V4.String(), "refused") // a has no server
	call(t, from, "10.88.0.2", "silence")   // the decoy leads nowhere

	for _, step := range []struct {
		what func() error
		want string
	}{{b.Pull, "silence"}, {b.Plug, b.Name}, {b.Down, "silence"}, {b.Up, b.Name}} {
		if err := step.what(); err != nil {
			t.Fatal(err)
		}
		call(t, from, b.V4.String(), step.want)
		call(t, from, third.V4.String(), third.Name)
	}
	b.Vanish()
	call(t, from, b.V4.String(), "silence")
	a.Lose(third.V4, false)
	call(t, from, third.V4.String(), "no route")
}

func TestTwins(t *testing.T) {
	testlength.Long(t)
	n := netns.New(t, netns.Options{Hosts: 2, Decoy: netns.Twins})
	a, b := n.Hosts[0], n.Hosts[1]
	proc.StartWith(t, proc.Options{Under: b.Under()}, "server").Hear("listening")
	from := proc.StartWith(t, proc.Options{Under: a.Under()}, "caller")
	call(t, from, b.V4.String(), b.Name)
	call(t, from, "172.30.0.1", "refused") // that is a itself
	a.Lose(b.V4, true)
	call(t, from, b.V4.String(), "silence")
}

func TestHostsKnowEachOther(t *testing.T) {
	for _, only6 := range []bool{false, true} {
		n := netns.New(t, netns.Options{Hosts: 2, OnlyV6: only6})
		a, b := n.Hosts[0], n.Hosts[1]
		proc.StartWith(t, proc.Options{Under: b.Under()}, "server").Hear("listening")
		call(t, proc.StartWith(t, proc.Options{Under: a.Under()}, "caller"), b.Name, b.Name)
	}
}

// maker makes a network in a test of its own, and is killed before it can clean up.
func maker(c *proc.Child) {
	go testing.Main(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{Name: "maker", F: func(t *testing.T) {
		t.Cleanup(func() { c.Say("skipped") })
		netns.New(t, netns.Options{Hosts: 2})
		c.Say("made")
		select {}
	}}}, nil, nil)
	select {}
}

// What a crashed run has left is removed by the next one, and what a run makes
// by that run.
func TestNothingIsLeft(t *testing.T) {
	crashed := proc.Start(t, "maker")
	if said := crashed.Hear(""); said == "skipped" {
		t.Skip("this machine makes no networks")
	}
	left := namespaces(t, crashed.PID())
	if len(left) != 2*3-1 { // the bridge has no file of hosts
		t.Fatalf("the other process has made %v", left)
	}
	crashed.Signal(syscall.SIGKILL)
	_ = crashed.Wait()
	t.Run("next", func(t *testing.T) { netns.New(t, netns.Options{Hosts: 2}) })
	for _, pid := range []int{crashed.PID(), os.Getpid()} {
		if left := namespaces(t, pid); len(left) > 0 {
			t.Error("still there:", left)
		}
	}
}

// namespaces returns the namespaces that a process has made, and the folders that
// belong to them.
func namespaces(t *testing.T, pid int) (all []string) {
	t.Helper()
	for _, dir := range []string{"/run/netns", "/etc/netns"} {
		list, err := filepath.Glob(filepath.Join(dir, fmt.Sprintf("gomx-test-%d-*", pid)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, list...)
	}
	return all
}
