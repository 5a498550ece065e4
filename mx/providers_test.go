package mx_test

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"gomx/mx"
)

func TestParseHints(t *testing.T) {
	for text, want := range map[string]mx.Hints{
		"ordered":                       {Ordered: true},
		"reliable,onesided,atomic":      {Reliable: true, OneSided: true, Atomic: true},
		"encrypted,heals":               {Encrypted: true, Heals: true},
		"size=1":                        {MessageSize: 1},
		"size=16K,latency=us":           {MessageSize: 16 << 10, Latency: mx.LatencyMicroseconds},
		"latency=ns,reach=host":         {Latency: mx.LatencyNanoseconds, Reach: mx.ReachHost},
		"reach=network,size=1G,ordered": {Reach: mx.ReachNetwork, MessageSize: 1 << 30, Ordered: true},
		"reach=any,latency=any":         {},
	} {
		if got, err := mx.ParseHints(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for text, part := range map[string]string{
		"": `unknown wish ""`, "ordered,": `unknown wish ""`, "pigeon": "want some of ordered, reliable",
		"relaible": "did you mean reliable?", "one-sided": "did you mean onesided?", "ordered=yes": "takes no value",
		"size": "wants a value", "size=": "want a number", "size=0": "want a number", "size=-1": "want a number",
		"size=1T": "want a number", "latency=s": "want one of any, ns, us, ms", "reach=hosts": "did you mean host?",
		"ordered,atomic,ordered": "ordered is there twice", "Ordered": "did you mean ordered?",
	} {
		got, err := mx.ParseHints(text)
		if !errors.Is(err, mx.ErrBadParamVal) || !strings.Contains(err.Error(), part) || got != (mx.Hints{}) {
			t.Errorf("%q: %+v, %v; want %q", text, got, err, part)
		}
	}
	names := mx.WishNames()
	for _, name := range []string{"ordered", "size=", "reach="} {
		if !slices.Contains(names, name) {
			t.Errorf("%q lacks %s", names, name)
		}
	}
}

// providers returns what meets the wishes, and the others, by transport and board.
func providers(t *testing.T, wishes string, params ...mx.Param) (met, refused []mx.Provider) {
	t.Helper()
	want, err := mx.ParseHints(wishes)
	if err != nil {
		t.Fatal(err)
	}
	all, err := mx.Providers(want, params...)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(all, func(a, b mx.Provider) int { return rankOf(a) - rankOf(b) }) {
		t.Errorf("those that meet %s are not first: %+v", wishes, all)
	}
	for _, p := range all {
		if p.Meets() {
			met = append(met, p)
		} else {
			refused = append(refused, p)
		}
	}
	return met, refused
}

func rankOf(p mx.Provider) int { return min(len(p.Refused), 1) }

func named(list []mx.Provider, transport string) *mx.Provider {
	i := slices.IndexFunc(list, func(p mx.Provider) bool { return p.Transport == transport })
	if i < 0 {
		return nil
	}
	return &list[i]
}

func TestProviders(t *testing.T) {
	initialize(t)
	for wishes, c := range map[string]struct{ met, refused, why string }{
		"ordered,reliable,onesided,atomic,size=4294967295": {"mem", "", ""},
		"latency=ns":               {"mem", "tcp", "its latency is of class ms"},
		"latency=us":               {"mem", "tcp", "its latency is of class ms"},
		"encrypted":                {"mem", "tcp", "MX_TLS"},
		"heals":                    {"", "mem", "its sessions end with their link"},
		"reach=process":            {"mem", "self", "no farther than the endpoint itself"},
		"reach=host":               {"", "mem", "no farther than this process"},
		"size=8G":                  {"", "mem", "at most 4294967295 bytes"},
		"reach=network,latency=ns": {"", "tcp", "its latency is of class ms"},
	} {
		if strings.HasSuffix(wishes, "8G") && math.MaxInt < 8<<30 {
			continue // more than the number of a size
		}
		met, refused := providers(t, wishes)
		if c.met != "" && named(met, c.met) == nil {
			t.Errorf("%s: %s does not meet it: %+v", wishes, c.met, refused)
		}
		if p := named(refused, c.refused); c.refused != "" && (p == nil || !strings.Contains(strings.Join(p.Refused, "; "), c.why) && isAvailable(c.refused)) {
			t.Errorf("%s: %s is not refused since %q: %+v", wishes, c.refused, c.why, p)
		}
	}
	for _, info := range mx.Transports() {
		met, refused := providers(t, "ordered")
		list := met
		if !info.Available {
			list = refused
		}
		p := named(list, info.Name)
		if p == nil {
			t.Fatalf("%s, available %v, is not among %+v", info.Name, info.Available, list)
		}
		if why := strings.Join(p.Refused, "; "); info.Available == (why != "") || !strings.HasSuffix(info.Reason, why) {
			t.Errorf("%s is refused since %q, and Transports says %q", info.Name, why, info.Reason)
		}
	}
}

func isAvailable(transport string) bool {
	return slices.ContainsFunc(mx.Transports(), func(i mx.TransportInfo) bool { return i.Name == transport && i.Available })
}

// Lower latency is better, then the wider reach.
func TestBestProvidersFirst(t *testing.T) {
	initialize(t)
	met, _ := providers(t, "ordered")
	if !slices.IsSortedFunc(met, func(a, b mx.Provider) int {
		if a.Offers.Latency != b.Offers.Latency {
			return int(a.Offers.Latency) - int(b.Offers.Latency)
		}
		return int(b.Offers.Reach) - int(a.Offers.Reach)
	}) {
		t.Errorf("%+v", met)
	}
}

// What a provider says can be opened with, and the loopback interface leads to no other host.
func TestProvidersOpen(t *testing.T) {
	initialize(t)
	boards, err := mx.Boards()
	if err != nil {
		t.Fatal(err)
	}
	met, refused := providers(t, "onesided")
	for _, p := range met {
		if p.Board >= 0 && !boards[p.Board].Up {
			t.Errorf("a board that is down: %+v", p)
		}
		ep, err := mx.OpenEndpoint(uint32(p.Board), mx.AnyEndpoint, testFilter, mx.WithTransports(p.Transport))
		if err != nil {
			t.Errorf("%+v: %v", p, err)
			continue
		}
		shut(t, ep)
	}
	host := len(boards) - 1
	for _, p := range append(met, refused...) {
		if p.Board == host && p.Offers.Reach > mx.ReachHost {
			t.Errorf("%s: %+v", boards[host].Name, p)
		}
	}
}

func TestProvidersWithParameters(t *testing.T) {
	initialize(t)
	_, refused := providers(t, "ordered", mx.WithTransports("mem"))
	if p := named(refused, "self"); p == nil || !strings.Contains(p.Refused[0], "only mem may be used") {
		t.Errorf("%+v", p)
	}
	if isAvailable("tcp") {
		met, refused := providers(t, "encrypted,reach=host", mx.WithTLS(&tls.Config{}))
		if named(met, "tcp") == nil {
			t.Errorf("tcp does not encrypt with TLS: %+v", refused)
		}
	}
}

func TestBadProviders(t *testing.T) {
	if _, err := mx.Providers(mx.Hints{}); !errors.Is(err, mx.ErrNotInitialized) {
		t.Error(err)
	}
	initialize(t)
	for _, h := range []mx.Hints{{Latency: 9}, {Reach: 9}} {
		if _, err := mx.Providers(h); !errors.Is(err, mx.ErrBadParamVal) {
			t.Errorf("%+v: %v", h, err)
		}
	}
	if _, err := mx.Providers(mx.Hints{}, mx.Param{Key: 9999}); !errors.Is(err, mx.ErrBadParamName) {
		t.Error(err)
	}
	if _, err := mx.Providers(mx.Hints{}, mx.WithTransports("pigeon")); !errors.Is(err, mx.ErrBadParamVal) {
		t.Error(err)
	}
}

func TestProvidersInJSON(t *testing.T) {
	initialize(t)
	all, err := mx.Providers(mx.Hints{Reach: mx.ReachHost})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	var back []mx.Provider
	if err := json.Unmarshal(text, &back); err != nil || !slices.EqualFunc(all, back, func(a, b mx.Provider) bool {
		return a.Offers == b.Offers && a.Board == b.Board && slices.Equal(a.Refused, b.Refused)
	}) {
		t.Errorf("%v: %s", err, text)
	}
	if err := json.Unmarshal([]byte(`[{"offers":{"latency":"fast"}}]`), &back); err == nil {
		t.Error("a class of latency that there is not")
	}
}
