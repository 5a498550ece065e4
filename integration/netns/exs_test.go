//go:build linux

package netns_test

import (
	"net"
	"strings"
	"testing"

	"gomx/exs"
	"gomx/integration/internal/netns"
	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
)

// listens accepts the connections of an EXS listener at an address.
func listens(c *proc.Child) {
	ln, err := exs.Listen("exs", c.Args[0])
	if err != nil {
		c.Fail(err)
	}
	c.Say("listening")
	for {
		if _, err := ln.Accept(); err != nil {
			c.Fail(err)
		}
	}
}

// dials says how a dial to an address ends.
func dials(c *proc.Child) {
	_, err := exs.Dial("exs", c.Args[0])
	c.Say("dialled: %v", err)
	c.Hear()
}

// A dial that does not reach the endpoint of a listener on another host names the variables that may be wrong, and no others.
func TestListenerWithoutAWay(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	n := netns.New(t, netns.Options{Hosts: 2})
	variables := []string{"MX_TRANSPORT", "MX_NET", "MX_PORT_BASE", "MX_SECRET", "MX_TLS"}
	for name, r := range map[string]struct {
		client, listener []string
		names            string
	}{
		"nothing is wrong":         {nil, nil, ""},
		"loopback of its host":     {nil, []string{"MX_NET=lo"}, "MX_NET"},
		"other ports there":        {nil, []string{"MX_PORT_BASE=30000"}, "MX_TRANSPORT MX_PORT_BASE"},
		"other ports here":         {[]string{"MX_PORT_BASE=30000"}, nil, "MX_TRANSPORT MX_PORT_BASE"},
		"no network transport":     {nil, []string{"MX_TRANSPORT=shm"}, "MX_TRANSPORT MX_PORT_BASE"},
		"none here":                {[]string{"MX_TRANSPORT=shm"}, nil, "MX_TRANSPORT"},
		"secret there":             {nil, []string{"MX_SECRET=one"}, "MX_SECRET"},
		"another secret":           {[]string{"MX_SECRET=two"}, []string{"MX_SECRET=one"}, "MX_SECRET"},
		"a network not ours there": {[]string{"MX_CONNECT_TIMEOUT=4s"}, []string{"MX_NET=aux0"}, "MX_NET"}, // packets get lost there
	} {
		t.Run(name, func(t *testing.T) {
			n := n
			if strings.Contains(name, "network not ours") {
				n = netns.New(t, netns.Options{Hosts: 2, Decoy: netns.DeadEnd})
			}
			at := net.JoinHostPort(n.Hosts[1].V4.String(), "7000")
			proc.StartWith(t, on(n.Hosts[1], r.listener...), "listens", at).Hear("listening")
			said := proc.StartWith(t, on(n.Hosts[0], r.client...), "dials", at).Hear("dialled: ")
			t.Log(said)
			if r.names == "" {
				if said != "<nil>" {
					t.Error("it fails")
				}
				return
			}
			for _, v := range variables {
				if named, wants := strings.Contains(said, "("+v+")"), strings.Contains(r.names, v); named != wants {
					t.Errorf("%s is named: %v", v, named)
				}
			}
		})
	}
}
