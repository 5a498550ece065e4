//go:build linux

package exs_test

import (
	"os"
	"runtime"
	"testing"
	"time"

	"gomx/exs"
	"gomx/integration/internal/proc"
	"gomx/mx"
)

func TestMain(m *testing.M) {
	proc.Main(m, map[string]proc.Role{"echo": echo, "server": serverRole, "client": clientRole, "knock": knock, "former": former, "leave": leave, "depart": depart, "sink": sink, "source": source, "readers": readers})
}

// bound ends every wait of these tests. The machine of integration/rdmavm is slow.
const bound = 30 * time.Second

// mediumKey names the variable that has the medium of a child's library.
const mediumKey = "GOMX_TEST_MEDIUM"

// need skips a test on machines without a medium.
func need(t testing.TB, medium string) {
	t.Helper()
	_ = mx.Init() // by whichever test comes first
	for _, info := range mx.Transports() {
		if info.Name == medium && !info.Available {
			t.Skipf("no %s on this machine: %s", medium, info.Reason)
		}
	}
}

// start starts a child whose library uses the medium.
func start(t testing.TB, medium, role string, args ...any) *proc.Process {
	t.Helper()
	need(t, medium)
	return proc.StartWith(t, proc.Options{Env: []string{mediumKey + "=" + medium}}, role, args...)
}

// library opens a library that uses the medium.
func library(t testing.TB, medium string) *exs.Library {
	t.Helper()
	need(t, medium)
	l, err := exs.Open(exs.Version1, mx.WithTransports(medium))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// ownLibrary opens the library of a child.
func ownLibrary(c *proc.Child) *exs.Library {
	l, err := exs.Open(exs.Version1, mx.WithTransports(os.Getenv(mediumKey)))
	if err != nil {
		c.Fail(err)
	}
	return l
}

// kinds are the kinds of connections.
const (
	packets = "packets"
	streams = "streams"
	conns   = "conns" // net.Conn
)

func typeOf(kind string) int {
	if kind == packets {
		return exs.SeqPacket
	}
	return exs.Stream
}

// memory is what this process uses, of heap and stacks, when all garbage is gone.
func memory() uint64 {
	const same = 1 << 20 / 8 // what comes and goes by itself
	least := taken()
	for range 20 {
		time.Sleep(100 * time.Millisecond) // what has just been used comes to rest
		now := taken()
		if now+same > least {
			return min(now, least)
		}
		least = now
	}
	return least
}

func taken() uint64 {
	var m runtime.MemStats
	for range 3 { // what is in pools outlives the first one, and each halves stacks that have grown too large
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
