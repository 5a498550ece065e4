package main_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"gomx/mx"
)

func TestWishes(t *testing.T) {
	text := good(t, nil, "-want", "ordered,reliable,onesided,atomic,size=1G")
	names(t, text, "Meet the wishes, best first:\n", "  TRANSPORT  BOARD", "  mem ", "not on a wire")
	text = good(t, []string{"MX_TRANSPORT=mem"}, "-want", "encrypted")
	names(t, text, "Do not:\n", "  self: only mem may be used, as MX_TRANSPORT")

	var list []mx.Provider
	if err := json.Unmarshal([]byte(good(t, nil, "-want", "latency=ns", "-json")), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) < 4 || !list[0].Meets() || list[0].Offers.Latency != mx.LatencyNanoseconds {
		t.Errorf("%+v", list)
	}
	for _, p := range list {
		if far := p.Transport == "tcp" || p.Transport == "rdma"; p.Meets() && far || len(p.Refused) == 0 && far {
			t.Errorf("%+v", p)
		}
	}
	if err := json.Unmarshal([]byte(good(t, nil, "-want", "ordered", "-json", "-b", "0")), &list); err != nil {
		t.Fatal(err)
	}
	if slices.ContainsFunc(list, func(p mx.Provider) bool { return p.Board > 0 }) {
		t.Errorf("other boards than 0: %+v", list)
	}
}

// Status 2 says that the question was answered, and that the answer is no.
func TestNothingMeetsTheWishes(t *testing.T) {
	for _, args := range [][]string{{"-want", "size=8G"}, {"-want", "size=8G", "-json"}} {
		o := run(t, nil, args...)
		if o.status != 2 || o.stderr != "" {
			t.Errorf("%v: status %d, %q", args, o.status, o.stderr)
		}
		names(t, o.stdout, "its messages are of at most 4294967295 bytes")
	}
	if o := run(t, nil, "-want", "size=8G"); !strings.HasPrefix(o.stdout, "Nothing meets the wishes:\n") {
		t.Error(o.stdout)
	}
}

func TestBadWishes(t *testing.T) {
	for _, c := range []struct {
		args  []string
		parts []string
	}{
		{[]string{"-want"}, []string{"-want", "-h explains"}},
		{[]string{"-want", ""}, []string{`unknown wish ""`, "ordered, reliable"}},
		{[]string{"-want", "orderd"}, []string{`"orderd"`, "did you mean ordered?"}},
		{[]string{"-want", "atomic,szie=1G"}, []string{`"szie"`, "did you mean size?"}},
		{[]string{"-want", "reach=netwrok"}, []string{"reach=netwrok", "did you mean network?"}},
		{[]string{"-want", "ordered", "-env"}, []string{"-want", "-env"}},
		{[]string{"-want", "ordered", "-live"}, []string{"-want", "-live"}},
		{[]string{"-want", "ordered", "-b", "300"}, []string{"board 300"}},
	} {
		o := run(t, nil, c.args...)
		if o.status != 1 || o.stdout != "" {
			t.Errorf("%v: status %d, %q", c.args, o.status, o.stdout)
		}
		names(t, o.stderr, append(c.parts, "mx_info: ")...)
	}
	o := run(t, []string{"MX_TLS=nonsense"}, "-want", "encrypted")
	if o.status != 1 {
		t.Errorf("status %d", o.status)
	}
	names(t, o.stderr, "MX_TLS", "correct it or unset it")
}
