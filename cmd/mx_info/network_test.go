package main_test

import (
	"encoding/json"
	"net"
	"strings"
	"testing"

	"gomx/mx"
)

// network is what -json says about other hosts.
type network struct {
	Works     bool
	Reason    string
	Networks  string
	Ports     string
	Listening string
	Secret    bool
	TLS       bool
	KeepAlive string
}

func networkOf(t *testing.T, env ...string) network {
	t.Helper()
	var f struct{ Network network }
	if err := json.Unmarshal([]byte(good(t, env, "-json")), &f); err != nil {
		t.Fatal(err)
	}
	return f.Network
}

func needTCP(t *testing.T) {
	t.Helper()
	for _, info := range mx.Transports() {
		if info.Name == "tcp" && !info.Available {
			t.Skipf("TCP: %s", info.Reason)
		}
	}
}

func TestNetworkSettingsAreShown(t *testing.T) {
	needTCP(t)
	plain := networkOf(t)
	if !plain.Works || plain.Networks != "all" || plain.Secret || plain.TLS || plain.KeepAlive == "" {
		t.Errorf("%+v", plain)
	}
	env := []string{"MX_PORT_RANGE=31760-31769", "MX_SECRET=correct horse", "MX_KEEPALIVE=7s", "MX_NET=!nonesuch0"}
	set := networkOf(t, env...)
	if !set.Works || set.Ports != "31760-31769" || !set.Secret || set.KeepAlive != "7s" || set.Networks != "!nonesuch0" {
		t.Errorf("%+v", set)
	}
	for at := range strings.SplitSeq(set.Listening, ", ") {
		if _, port, err := net.SplitHostPort(at); err != nil || !strings.HasPrefix(port, "3176") {
			t.Errorf("it listens on %q", set.Listening)
		}
	}
	text := good(t, env)
	names(t, text, "Other hosts: yes", set.Ports, "secret: on", "TLS: off", "7s", "networks: !nonesuch0")
	for _, args := range [][]string{nil, {"-env"}, {"-json"}, {"-env", "-json"}} {
		if strings.Contains(good(t, env, args...), "correct horse") {
			t.Errorf("%v shows the secret", args)
		}
	}
}

func TestBoardsAreThoseSelected(t *testing.T) {
	f := parse(t, good(t, []string{"MX_NET=lo"}, "-json"))
	if len(f.Boards) != 1 || f.Boards[0].Name != "localhost:0" {
		t.Errorf("%+v", f.Boards)
	}
	if n := networkOf(t, "MX_NET=lo"); n.Works && !strings.Contains(n.Listening, "127.0.0.1:") {
		t.Errorf("%+v", n)
	}
	o := run(t, []string{"MX_NET=nonesuch0"})
	if o.status != 1 || o.stdout != "" {
		t.Errorf("status %d, %s", o.status, o.stdout)
	}
	names(t, o.stderr, "MX_NET", "nonesuch0")
}
