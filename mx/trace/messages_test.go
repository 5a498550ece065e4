package trace_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gomx/mx"
	"gomx/mx/trace"
)

// Match information of the test's messages.
const (
	plain uint64 = 0x10 + iota
	early
	large
	synchronous
	own
	ownEarly
	taken
)

const largeBytes = 1 << 20

// traffic sends a message of each sort from one endpoint to another, and leaves their traces in a folder.
func traffic(t *testing.T, medium, folder string) {
	if err := mx.Init(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := mx.Finalize(); err != nil {
			t.Error(err)
		}
	}()
	skipWithout(t, medium)
	a, b, to := traced(t, medium, folder)
	good := func(r mx.Request, err error) mx.Request {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	wait := func(ep *mx.Endpoint, r mx.Request) {
		t.Helper()
		if _, done, err := ep.Wait(r, 10*time.Second); !done || err != nil {
			t.Fatal(done, err)
		}
	}
	into := func(ep *mx.Endpoint, match uint64, n int) mx.Request {
		return good(ep.Irecv(make([]byte, n), match, mx.MatchMaskNone, nil))
	}
	exchange := func(match uint64, n int, send func([]byte, mx.EndpointAddr, uint64, any) (mx.Request, error)) {
		r := into(b, match, n)
		s := good(send(make([]byte, n), to, match, nil))
		wait(b, r)
		wait(a, s)
	}
	exchange(plain, 8, a.Isend)
	exchange(large, largeBytes, a.Isend)
	exchange(synchronous, 8, a.Issend)
	wait(a, good(a.Isend(make([]byte, 8), to, early, nil)))
	if _, found, err := b.Probe(10*time.Second, early, mx.MatchMaskNone); !found || err != nil {
		t.Fatal(found, err)
	}
	wait(b, into(b, early, 8))
	r := into(a, own, 8)
	wait(a, good(a.Isend(make([]byte, 8), a.Addr(), own, nil)))
	wait(a, r)
	wait(a, good(a.Isend(make([]byte, 8), a.Addr(), ownEarly, nil)))
	wait(a, into(a, ownEarly, 8))
	var handled atomic.Bool // the endpoint's own goroutine may run the handler
	if err := b.RegisterUnexpHandler(func(any, mx.EndpointAddr, uint64, uint32, []byte) mx.UnexpAction {
		handled.Store(true)
		return mx.RecvFinished
	}, nil); err != nil {
		t.Fatal(err)
	}
	wait(a, good(a.Isend(make([]byte, 8), to, taken, nil)))
	for end := time.Now().Add(10 * time.Second); !handled.Load() && time.Now().Before(end); {
		if err := b.Progress(); err != nil {
			t.Fatal(err)
		}
	}
	for _, ep := range []*mx.Endpoint{a, b} {
		if since := ep.TraceNow(); ep == a {
			ep.TraceRegion("a step", since, 5, 6)
		}
		if err := ep.Close(); err != nil {
			t.Fatal(err)
		}
	}
	a.TraceRegion("after Close", 1, 0, 0)
	a.TraceJob(1, 0, 1)
}

// traced opens two endpoints that leave traces in a folder, and connects the first to the second.
func traced(t *testing.T, medium, folder string) (a, b *mx.Endpoint, to mx.EndpointAddr) {
	t.Helper()
	open := func() *mx.Endpoint {
		ep, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, 7, mx.WithTransports(medium), mx.WithTrace(folder))
		if err != nil {
			t.Fatal(err)
		}
		return ep
	}
	a, b = open(), open()
	nic, id, err := mx.DecomposeEndpointAddr(b.Addr())
	if err != nil {
		t.Fatal(err)
	}
	to, err = a.Connect(nic, id, 7, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	return a, b, to
}

func skipWithout(t *testing.T, medium string) {
	t.Helper()
	for _, info := range mx.Transports() {
		if info.Name == medium && !info.Available {
			t.Skipf("transport %s: %s", medium, info.Reason)
		}
	}
}

func merged(t *testing.T, paths ...string) *trace.Trace {
	t.Helper()
	files, err := trace.Read(paths...)
	if err != nil {
		t.Fatal(err)
	}
	all, err := trace.Merge(files)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestMessages joins what both endpoints have traced of each sort of message.
func TestMessages(t *testing.T) {
	for _, medium := range []string{"mem", "shm", "tcp"} {
		t.Run(medium, func(t *testing.T) {
			folder := t.TempDir()
			traffic(t, medium, folder)
			all := merged(t, folder)
			if len(all.Ranks) != 2 || len(all.Clocks) != 1 || all.Size != 0 || !all.Ranks[0].Closed {
				t.Fatalf("%d traces, %v, %d ranks", len(all.Ranks), all.Clocks, all.Size)
			}
			sorts := map[uint64]*trace.Message{}
			for i := range all.Messages {
				m := &all.Messages[i]
				if sorts[m.Match] != nil {
					t.Errorf("message %#x is there twice", m.Match)
				}
				sorts[m.Match] = m
				self := m.Match == own || m.Match == ownEarly
				if m.From < 0 || m.To < 0 || self != (m.From == m.To) || m.Sent == trace.Unknown || m.Arrived < m.Sent || m.Matched < m.Arrived {
					t.Errorf("%#x: %+v", m.Match, *m)
				}
			}
			for _, c := range []struct {
				match                            uint64
				stored, rendezvous, told, handed bool
				bytes                            uint32
			}{
				{match: plain, bytes: 8}, {match: early, stored: true, bytes: 8}, {match: synchronous, told: true, bytes: 8},
				{match: large, rendezvous: true, told: true, bytes: largeBytes},
				{match: own, bytes: 8}, {match: ownEarly, stored: true, bytes: 8}, {match: taken, handed: true, bytes: 8},
			} {
				m := sorts[c.match]
				if m == nil {
					t.Errorf("%#x is not there", c.match)
					continue
				}
				if (m.Matched != m.Arrived) != c.stored || m.Rendezvous != c.rendezvous || (m.Pulled != trace.Unknown) != c.rendezvous ||
					(m.Done != trace.Unknown) != c.told || m.Blocks != (c.rendezvous && medium == "tcp") || m.Handled != c.handed || m.Bytes != c.bytes {
					t.Errorf("%#x: %+v", c.match, *m)
				}
			}
			regions := append(all.Ranks[0].Regions, all.Ranks[1].Regions...)
			if len(regions) != 1 || regions[0].Name != "a step" || regions[0].ID != 5 || regions[0].Bytes != 6 {
				t.Errorf("regions %+v", regions)
			}
			checkChrome(t, all)
		})
	}
}

// TestOff has no trace where none is asked for.
func TestOff(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("MX_TRACE", folder)
	if err := mx.Init(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mx.Finalize() }()
	ep, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, 7, mx.WithTransports("mem"), mx.WithTrace(""))
	if err != nil {
		t.Fatal(err)
	}
	ep.TraceRegion("nothing", ep.TraceNow(), 0, 0)
	ep.TraceJob(1, 0, 1)
	if name := ep.TraceFile(); name != "" {
		t.Errorf("the trace is %s", name)
	}
	if err := ep.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := trace.Read(folder); !errors.Is(err, trace.ErrNone) {
		t.Errorf("reading an empty folder: %v", err)
	}
}

// TestFolders has bad folders refused when an endpoint is opened.
func TestFolders(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := mx.Init(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mx.Finalize() }()
	mx.SetErrorHandler(mx.ErrorsReturn)
	if _, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, 7, mx.WithTransports("mem"), mx.WithTrace(file)); !errors.Is(err, mx.ErrBadParamVal) {
		t.Errorf("a file as the folder: %v", err)
	}
	if _, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, 7, mx.WithTransports("mem"), mx.WithTrace(filepath.Join(file, "below"))); err == nil {
		t.Error("a folder below a file was taken")
	}
}

// TestBadFiles has files refused that are no traces, and those that were cut read as far as they go.
func TestBadFiles(t *testing.T) {
	folder := t.TempDir()
	traffic(t, "mem", folder)
	files, err := filepath.Glob(filepath.Join(folder, "*.mxtrace"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(whole, []byte(strings.Repeat("payload", 2))) {
		t.Error("there is payload in the file")
	}
	write := func(name string, b []byte) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, b := range map[string][]byte{"empty": nil, "text": []byte("no trace at all"), "head": whole[:1000], "zeros": make([]byte, 1<<17)} {
		if _, err := trace.Read(write(name, b)); !errors.Is(err, trace.ErrNotTrace) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	later := bytes.Clone(whole)
	later[0]++
	if _, err := trace.Read(write("later", later)); !errors.Is(err, trace.ErrVersion) {
		t.Errorf("another version: %v", err)
	}
	if _, err := trace.Read(filepath.Join(folder, "nothing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no such file: %v", err)
	}
	full := merged(t, files[0])
	const events = 4096 + 64<<10 // where they begin
	cut := merged(t, write("cut", whole[:events+3*64+10]))
	if r := cut.Ranks[0]; r.Cut == 0 || r.Last > full.Ranks[0].Last || len(cut.Messages) == 0 {
		t.Errorf("of a file that was cut: %+v", r)
	}
}
