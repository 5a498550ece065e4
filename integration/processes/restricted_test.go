//go:build linux

package processes_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
	"gomx/mx"
)

// limited restricts itself as its first argument says, and then is an echo that
// also tells what it knows of single copies. Arguments: restriction, the
// parent's endpoint.
func limited(c *proc.Child) {
	if err := restrict(c.Args[0]); err != nil {
		c.Fail(err)
	}
	if err := mx.Init(); err != nil {
		c.Fail(err)
	}
	ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, filter)
	if err != nil {
		c.Say("no endpoint: %v", err)
		os.Exit(0)
	}
	if b, err := mx.Alloc(64 << 20); err != nil {
		c.Say("no memory: %v", err)
	} else {
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		_ = mx.Free(b)
		c.Say("memory")
	}
	to, err := ep.Connect(mustNIC(c), c.Number(1), filter, 10*time.Second)
	if err != nil {
		c.Say("no connection: %v", err)
		os.Exit(0)
	}
	c.Say("ready %d", ep.ID())
	buf := make([]byte, 8<<20)
	for {
		r, err := ep.Irecv(buf, 0, 0, nil)
		st := done(c, ep, r, err)
		if st.MsgLength == 0 {
			c.Say("diagnostics %v", ep.Diagnostics())
		}
		r, err = ep.Isend(buf[:st.XferLength], to, st.MatchInfo|1<<32, nil)
		done(c, ep, r, err)
	}
}

func restrict(how string) error {
	switch how {
	case "seccomp":
		return refuseCall(unix.SYS_PROCESS_VM_READV)
	case "descriptors":
		return unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 10, Max: 10})
	case "addresses":
		// The Go runtime itself must not run short: it keeps what it has once had.
		runtime.KeepAlive(make([]byte, 128<<20))
		runtime.GC()
		var u unix.Rlimit
		size := uint64(addressSpace()) + 32<<20
		u.Cur, u.Max = size, size
		return unix.Setrlimit(unix.RLIMIT_AS, &u)
	}
	return nil
}

// addressSpace returns the bytes of address space that are in use.
func addressSpace() (bytes int) {
	statm, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		_, _ = fmt.Sscan(string(statm), &bytes)
	}
	return bytes * os.Getpagesize()
}

// transfers exchanges messages of all sizes with a limited child, both ways.
func transfers(t testing.TB, ep *mx.Endpoint, child *proc.Process) (diagnostics string) {
	t.Helper()
	to := connect(t, ep, child.HearNumber("ready"))
	shared, err := mx.Alloc(4 << 20)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = mx.Free(shared) }()
	back := make([]byte, 4<<20)
	for i, n := range []int{1, 8, 41, 1023, 8192, 8193, 65_536, 65_537, 300_000, 4 << 20} {
		for j, b := range [][]byte{make([]byte, n), shared[:n]} {
			for k := range b {
				b[k] = byte(k*7) + byte(k>>8) + byte(i)
			}
			roundTrip(t, ep, to, uint64(i<<4|j), b, back)
		}
	}
	roundTrip(t, ep, to, 1<<20, nil, nil)
	return child.Hear("diagnostics")
}

// Where the system forbids to read another process's memory, messages go
// through the ring, and the endpoint says why.
func TestSingleCopyRefused(t *testing.T) {
	testlength.Long(t)
	aboutShm(t)
	ep := open(t)
	for _, c := range []struct {
		name, restriction, says string
		options                 proc.Options
	}{
		{"seccomp", "seccomp", "seccomp", proc.Options{}},
		{"switched off", "nothing", "switched off", proc.Options{Env: []string{"MX_SINGLE_COPY=0"}}},
		{"switched off, no arena", "nothing", "switched off", proc.Options{Env: []string{"MX_SINGLE_COPY=0", "MX_ARENA=0"}}},
		{"one processor", "nothing", "", proc.Options{Env: []string{"GOMAXPROCS=1"}}},
		{"pid namespace", "nothing", "process number", proc.Options{Under: []string{"unshare", "-p", "-f"}}},
		{"user namespace", "nothing", "", proc.Options{Under: []string{"unshare", "-U", "-r"}}},
		{"small /dev/shm", "nothing", "", proc.Options{Under: []string{"unshare", "-m", "sh", "-c",
			`mount -t tmpfs -o size=1m tmpfs /dev/shm && exec "$0"`}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if len(c.options.Under) > 0 {
				probe := append(c.options.Under[1:len(c.options.Under):len(c.options.Under)], "true")
				if out, err := exec.Command(c.options.Under[0], probe...).CombinedOutput(); err != nil {
					t.Skipf("this machine does not allow %v: %v %s", c.options.Under, err, out)
				}
			}
			child := proc.StartWith(t, c.options, "limited", c.restriction, ep.ID())
			child.Hear("memory")
			diagnostics := transfers(t, ep, child)
			t.Log(diagnostics)
			if !strings.Contains(diagnostics, c.says) {
				t.Errorf("diagnostics don't say %q: %s", c.says, diagnostics)
			}
			child.Kill()
		})
	}
}

// A host without any network but lo: unix sockets are of the network namespace,
// so all endpoints are in it.
func TestOnlyLoopback(t *testing.T) {
	aboutShm(t)
	initialize(t)
	under := []string{"unshare", "-n"}
	if out, err := exec.Command(under[0], under[1], "true").CombinedOutput(); err != nil {
		t.Skipf("this machine does not allow %v: %v %s", under, err, out)
	}
	proc.StartWith(t, proc.Options{Under: under}, "couple").Hear("exchanged")
}

// A process that may not make memory to share has no shm, and is told why. It opens
// endpoints all the same, and they reach each other.
func TestNoMemoryToShare(t *testing.T) {
	aboutShm(t)
	initialize(t)
	for _, names := range []string{"", "tcp,self", "self"} {
		child := proc.StartWith(t, proc.Options{Env: []string{transportKey + "=" + names}}, "lonely")
		if said := child.Hear("no shm:"); !strings.Contains(said, "memfd_create") {
			t.Errorf("the reason is %q, nothing about memfd_create", said)
		}
		child.Hear("exchanged")
	}
}

// A process that may not listen at the unix sockets over which peers meet has no shm either, and is told why. As the filter refuses what TCP needs too,
// that is what the endpoint that it opens lacks, and not shm.
func TestNoListening(t *testing.T) {
	aboutShm(t)
	initialize(t)
	for _, refused := range []string{"listen", "setsockopt"} {
		child := proc.StartWith(t, proc.Options{Env: []string{transportKey + "="}}, "without listener", refused)
		if said := child.Hear("no shm:"); !strings.Contains(said, refused+": operation not permitted") {
			t.Errorf("the reason is %q, nothing about %s", said, refused)
		}
		if said := child.Hear("no endpoint:"); !strings.Contains(said, "tcp") || strings.Contains(said, "shm") {
			t.Errorf("no endpoint is opened, for %q, want what TCP lacks", said)
		}
	}
}

// withoutListener is a process that may not listen. Argument: the system call that is refused.
func withoutListener(c *proc.Child) {
	number := map[string]uint32{"listen": unix.SYS_LISTEN, "setsockopt": unix.SYS_SETSOCKOPT}[c.Args[0]]
	if err := refuseCall(number); err != nil {
		c.Fail(err)
	}
	sayWhyNoShm(c)
	if err := mx.Init(); err != nil {
		c.Fail(err)
	}
	if _, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter); err != nil {
		c.Say("no endpoint: %v", err)
	}
}

func sayWhyNoShm(c *proc.Child) {
	for _, info := range mx.Transports() {
		if info.Name == "shm" && !info.Available {
			c.Say("no shm: %s", info.Reason)
		}
	}
}

// lonely is a process without shared memory, and with other transports.
func lonely(c *proc.Child) {
	if err := refuseCall(unix.SYS_MEMFD_CREATE); err != nil {
		c.Fail(err)
	}
	sayWhyNoShm(c)
	b, err := mx.Alloc(1 << 20) // ordinary memory
	if err == nil {
		b[len(b)-1] = 1
		err = mx.Free(b)
	}
	if err != nil {
		c.Fail(err)
	}
	if os.Getenv(transportKey) != "self" {
		couple(c)
		return
	}
	if err := mx.Init(); err != nil {
		c.Fail(err)
	}
	if _, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter); err != nil {
		c.Fail(err)
	}
	c.Say("exchanged")
}

// couple opens two endpoints and exchanges a message between them.
func couple(c *proc.Child) {
	if err := mx.Init(); err != nil {
		c.Fail(err)
	}
	a, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter)
	if err != nil {
		c.Fail(err)
	}
	b, to := openSecond(c, a)
	buf := make([]byte, 100_000)
	r, err := a.Irecv(buf, 1, mx.MatchMaskNone, nil)
	if err != nil {
		c.Fail(err)
	}
	s, err := b.Isend(make([]byte, 100_000), to, 1, nil)
	for _, st := range []mx.Status{done(c, b, s, err), done(c, a, r, nil)} {
		if st.Code != mx.StatusSuccess {
			c.Fail(st.Err())
		}
	}
	c.Say("exchanged")
}

func openSecond(c *proc.Child, a *mx.Endpoint) (*mx.Endpoint, mx.EndpointAddr) {
	b, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter)
	if err != nil {
		c.Fail(err)
	}
	to, err := b.Connect(mustNIC(c), a.ID(), filter, 10*time.Second)
	if err != nil {
		c.Fail(err)
	}
	return b, to
}

// A process short of descriptors or address space is told so; whatever works
// goes on working.
func TestShortResources(t *testing.T) {
	aboutShm(t)
	ep := open(t)
	for restriction, says := range map[string]string{
		"descriptors": "too many open files", "addresses": "cannot allocate memory",
	} {
		t.Run(restriction, func(t *testing.T) {
			if raceDetector && restriction == "addresses" {
				t.Skip("the race detector needs address space of its own, and ends the process without it")
			}
			child := proc.Start(t, "limited", restriction, ep.ID())
			if said := child.Hear("no "); !strings.Contains(said, says) {
				t.Errorf("says %q, nothing about %q", said, says)
			} else {
				t.Log(said)
			}
		})
	}
}

// A process that has no descriptor left for a connection hears that the lack is its own, and not that its peer is out of reach.
func TestConnectWithoutDescriptors(t *testing.T) {
	ep := open(t)
	for _, medium := range []string{"shm", "tcp"} {
		t.Run(medium, func(t *testing.T) {
			child := proc.Start(t, "exhausted", medium, ep.ID())
			if said := child.Hear("connect"); !strings.Contains(said, "true") || !strings.Contains(said, "ulimit -n") {
				t.Error(said)
			}
		})
	}
}

// exhausted connects when it has no descriptor left, and says what becomes of that. Arguments: the transport, the parent's endpoint.
func exhausted(c *proc.Child) {
	if err := mx.Init(); err != nil {
		c.Fail(err)
	}
	ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, filter, mx.WithTransports(c.Args[0]))
	if err != nil {
		c.Fail(err)
	}
	nic := mustNIC(c)
	most := unix.Rlimit{Cur: 200, Max: 200}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &most); err != nil {
		c.Fail(err)
	}
	var kept []*os.File
	for f, err := os.Open(os.DevNull); err == nil; f, err = os.Open(os.DevNull) {
		kept = append(kept, f)
	}
	_, err = ep.Connect(nic, c.Number(1), filter, 10*time.Second)
	c.Say("connect %v %v", errors.Is(err, mx.ErrNoResources), err)
	runtime.KeepAlive(kept)
}

// Over shared memory, processes of other users are refused, and counted. Without the
// restriction to it TCP takes over: integration/netns has that.
func TestOtherUser(t *testing.T) {
	aboutShm(t)
	o := proc.AsNobody(t, proc.Options{Env: []string{"MX_TRANSPORT=shm"}})
	ep := open(t)
	before := counterOf(ep, "handshakes refused")
	child := proc.StartWith(t, o, "limited", "nothing", ep.ID())
	child.Hear("memory")
	if said := child.Hear("no connection:"); !strings.Contains(said, "refused") {
		t.Errorf("says %q, nothing about a refusal", said)
	} else {
		t.Log(said)
	}
	for range 100 {
		if counterOf(ep, "handshakes refused") > before {
			return
		}
		_ = ep.Progress()
	}
	t.Log("the other side refused first, so there was nothing to count")
}

func counterOf(ep *mx.Endpoint, label string) uint64 {
	for _, c := range ep.Counters() {
		if c.Label == label {
			return c.Value
		}
	}
	return 0
}
