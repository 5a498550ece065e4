package mx_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gomx/mx"
)

func TestIII11CallsBeforeInitAreRefused(t *testing.T) {
	calls := map[string]func() error{
		"Finalize":           mx.Finalize,
		"OpenEndpoint":       func() error { _, err := mx.OpenEndpoint(0, 0, 0); return err },
		"GetInfo":            func() error { return mx.GetInfo(nil, mx.NICCount, 0, new(uint32)) },
		"HostnameToNICID":    func() error { _, err := mx.HostnameToNICID("localhost"); return err },
		"NICIDToHostname":    func() error { _, err := mx.NICIDToHostname(1); return err },
		"BoardNumberToNICID": func() error { _, err := mx.BoardNumberToNICID(0); return err },
		"NICIDToBoardNumber": func() error { _, err := mx.NICIDToBoardNumber(1); return err },
		"Boards":             func() error { _, err := mx.Boards(); return err },
		"BoardCounters":      func() error { _, err := mx.BoardCounters(0); return err },
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) { refused(t, call(), mx.ErrNotInitialized, "mx: ", "mx.Init") })
	}
}

func TestIII11InitTwiceIsRefusedAndChangesNothing(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		refused(w, mx.Init(), mx.ErrAlreadyInitialized, "init")
		recv := w.irecv(b, make([]byte, 8), 1, exact)
		w.succeed(a, w.isend(a, pattern(8, 0), toB, 1))
		w.succeed(b, recv)
	})
}

func TestIII11BadEnvironmentIsNamedAndInitCanBeRepeated(t *testing.T) {
	t.Setenv("MX_EAGER", "many")
	refused(t, mx.Init(), mx.ErrBadParamVal, "init", "MX_EAGER", "many")
	t.Setenv("MX_EAGER", "4K")
	initialize(t)
}

func TestIII12FinalizeWithOpenEndpointsIsRefused(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		refused(w, mx.Finalize(), mx.ErrBusy, "finalize", a.String(), b.String())
		recv := w.irecv(b, make([]byte, 8), 1, exact)
		w.isend(a, pattern(8, 0), toB, 1)
		w.succeed(b, recv)
	})
}

// TestIII12FinalizeNamesAFew names the first endpoints that are open, and how many more there are.
func TestIII12FinalizeNamesAFew(t *testing.T) {
	initialize(t)
	for range 20 {
		ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, 7, mx.WithTransports("mem"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ep.Close() })
	}
	err := mx.Finalize()
	if !errors.Is(err, mx.ErrBusy) || strings.Count(err.Error(), ":0/") != 8 || !strings.Contains(err.Error(), ", and 12 more first") {
		t.Errorf("%v", err)
	}
}

func TestIII12InitFinalizeInitTransfers(t *testing.T) {
	for _, medium := range media {
		t.Run(medium, func(t *testing.T) {
			for round := range 3 {
				t.Run("round", func(t *testing.T) {
					w := newWorld(t, medium)
					a, b, toB, _ := w.pair()
					for _, n := range []int{0, 100, 100_000} {
						got := make([]byte, n)
						recv := w.irecv(b, got, uint64(round), exact)
						want := pattern(n, byte(round))
						send := w.isend(a, want, toB, uint64(round))
						w.succeed(b, recv)
						w.succeed(a, send)
						if string(got) != string(want) {
							t.Fatalf("%d bytes arrived changed", n)
						}
					}
				})
			}
		})
	}
}

func TestIII12FinalizeWithoutInitIsRefused(t *testing.T) {
	initialize(t)
	if err := mx.Finalize(); err != nil {
		t.Fatal(err)
	}
	refused(t, mx.Finalize(), mx.ErrNotInitialized, "finalize")
	if err := mx.Init(); err != nil { // for the clean-up
		t.Fatal(err)
	}
}

func TestEnvironmentListsEveryVariable(t *testing.T) {
	t.Setenv("MX_SPIN", "7us")
	list, err := mx.Environment()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, v := range list {
		if v.Help == "" || v.Default == "" || v.Value == "" || seen[v.Name] {
			t.Errorf("%+v", v)
		}
		seen[v.Name] = true
		want := "default"
		if v.Name == "MX_SPIN" {
			want = "environment"
			if v.Value != "7µs" {
				t.Errorf("MX_SPIN is %s", v.Value)
			}
		}
		if v.Source != want {
			t.Errorf("%s comes from the %s, want %s", v.Name, v.Source, want)
		}
	}
	if !seen["MX_SPIN"] || !seen["MX_DISABLE_SHMEM"] {
		t.Error("variables are missing")
	}
}

func TestEnvironmentRefusesNonsense(t *testing.T) {
	bad := map[string][]string{
		"MX_TRANSPORT":        {"carrier-pigeon", "shm,", "auto,shm", "mem,mem"},
		"MX_DISABLE_SHMEM":    {"perhaps", "2"},
		"MX_EAGER":            {"-2", "1T", "x", "9999999999999G", "9223372036854775807K", "4G"},
		"MX_COPY_LIMIT":       {"-2", "", "4G"},
		"MX_UNEXP_BYTES":      {"0", "-1", "3.5M", "129G"},
		"MX_UNEXP_HEADERS":    {"0", "many", "1025M"},
		"MX_UNEXP_RESERVE":    {"0", "-1", "3G"},
		"MX_STRANGERS":        {"0", "2M"},
		"MX_PIECES_BYTES":     {"0", "129G"},
		"MX_REQUEST_TIMEOUT":  {"soon", "-1s", "-3", "9999999999999999999s", "0", "999us"},
		"MX_SPIN":             {"-1us", "50 us"},
		"MX_SINGLE_COPY":      {"maybe"},
		"MX_ARENA":            {"-"},
		"MX_ERRORS_ARE_FATAL": {"yes"},
		"MX_ANY_ENDPOINT":     {"4096", "-2", "1M"},
		"MX_NET":              {"10.0.0.0/33", "eth0,,eth1", "!", "10.0.0"},
		"MX_PORT_BASE":        {"0", "65536", "-1", "http"},
		"MX_PORT_RANGE":       {"100", "200-100", "0-5", "20000-70000", "a-b", "1-2-3"},
		"MX_SECRET_FILE":      {"/nonexistent/secret", "/dev/null"},
		"MX_TLS":              {"yes", "cert=a", "cert=a,key=b,ca=", "cert=a,key=b,ca=c,ca=d", "cert=/nonexistent/a,key=/nonexistent/b,ca=c"},
		"MX_KEEPALIVE":        {"1s", "2h", "often", "0"},
		"MX_CONNECT_TIMEOUT":  {"0", "-1s", "soon"},
	}
	for name, values := range bad {
		for _, value := range values {
			t.Run(name+"="+value, func(t *testing.T) {
				t.Setenv(name, value)
				_, err := mx.Environment()
				if value == "" { // as good as unset
					if err != nil {
						t.Fatal(err)
					}
					return
				}
				if err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), value) {
					t.Fatalf("error %v", err)
				}
				if err := mx.Init(); !errors.Is(err, mx.ErrBadParamVal) {
					t.Fatalf("Init: %v", err)
				}
			})
		}
	}
}

func TestDisableShmemLeavesSharedMemoryOut(t *testing.T) {
	t.Setenv("MX_DISABLE_SHMEM", "1")
	initialize(t)
	for _, info := range mx.Transports() {
		if info.Name == "shm" && (info.Available || !strings.Contains(info.Reason, "MX_DISABLE_SHMEM")) {
			t.Errorf("%+v", info)
		}
	}
	ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, testFilter)
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, ep)
	if got := ep.TransportNames(); slices.Contains(got, "shm") || len(got) != 1 {
		t.Errorf("transports %v", got)
	}
	_, err = mx.OpenEndpoint(0, mx.AnyEndpoint, testFilter, mx.WithTransports("shm"))
	refused(t, err, mx.ErrNoDriver, "open endpoint", "MX_DISABLE_SHMEM")
}
