package main

import (
	"slices"
	"strings"
	"testing"

	"gomx/internal/cmdline"
)

func TestDefaults(t *testing.T) {
	o, err := parseOptions(nil)
	if err != nil {
		t.Fatal(err)
	}
	if o.rounds != 5 || o.cores != (pin{0, 1}) || !slices.Equal(o.only, quantities) || !slices.Equal(o.media, []string{"shm", "tcp"}) || !slices.Equal(o.peers, peerNames()) {
		t.Errorf("got %+v", o)
	}
}

func TestLists(t *testing.T) {
	o, err := parseOptions([]string{"-only", "rate, latency", "-peers", "mpich", "-pin", "3, 1"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.only, []string{"rate", "latency"}) || !slices.Equal(o.peers, []string{"mpich"}) || o.cores != (pin{3, 1}) {
		t.Errorf("got %+v", o)
	}
	for _, j := range planFor(o.media, o.only) {
		if j.quantity != "rate" && j.quantity != "latency" {
			t.Errorf("%v is planned", j)
		}
	}
}

func TestBadOptions(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"-only speed", `-only: unknown "speed"; known: latency`},
		{"-only none", "nothing to measure"},
		{"-peers lam", `-peers: unknown "lam"; known: socket, ib_send_lat, ib_write_lat, ib_read_bw, ib_write_bw, openmpi, mpich`},
		{"-media udp", `-media: unknown "udp"; known: shm, tcp, rdma`},
		{"-media none", "nothing to measure over"},
		{"-media tcp -only posted,alloc", "-only posted,alloc is not measured over -media tcp"},
		{"-media rdma -only rate", "-only rate is not measured over -media rdma"},
		{"-media rdma -device nosuch", "-media rdma: this machine has no RDMA device nosuch"},
		{"-rounds 0", "-rounds"},
		{"-timeout 0s", "-timeout"},
		{"-pin 0", "two cores"},
		{"-pin 0,0", "different cores"},
		{"-pin 0,1,2", "not a core number"},
		{"-pin a,b", "not a core number"},
		{"-plot x.pdf", ".svg or .png"},
		{"-plot x.svg -only rate", "-plot"},
		{"-json -markdown", "exclude each other"},
		{"-nosuch", "nosuch"},
		{"latency", `unexpected argument "latency"`},
	} {
		if _, err := parseOptions(strings.Fields(c.line)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", c.line, err, c.want)
		}
	}
}

func TestHelp(t *testing.T) {
	_, err := parseOptions([]string{"-h"})
	help, asked := cmdline.Answer(err, helpText)
	if !asked {
		t.Errorf("error %v", err)
	}
	for _, want := range []string{"go run ./bench/compare", "-rounds", "-peers", "-media", "-only", "-plot", "-pin", "-markdown"} {
		if !strings.Contains(help, want) {
			t.Errorf("the help doesn't mention %s", want)
		}
	}
}
