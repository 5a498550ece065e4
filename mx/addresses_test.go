package mx_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gomx/mx"
)

func TestAddressTable(t *testing.T) {
	over(t, func(w *world) {
		path := filepath.Join(w.TempDir(), "addresses")
		var eps []*mx.Endpoint
		for range 10 {
			eps = append(eps, w.open())
		}
		names := w.names(eps...)
		if err := mx.WriteAddresses(path, names); err != nil {
			w.Fatal(err)
		}
		table, err := mx.ReadAddresses(path)
		if err != nil {
			w.Fatal(err)
		}
		if err := mx.WriteAddresses(path, names[:1]); err != nil { // the old file stays with who has it
			w.Fatal(err)
		}
		if table.Len() != len(names) || table.Peer(7) != names[7] {
			w.Fatalf("%d endpoints, %+v for %+v", table.Len(), table.Peer(7), names[7])
		}
		a := w.open()
		if _, err := a.ConnectAll(noContext, table.Peers(0, table.Len())); err != nil {
			w.Error(err)
		}
		for _, bad := range [][2]int{{-1, 1}, {3, 2}, {0, 11}, {0, math.MaxInt}} {
			func() {
				defer func() {
					if text, _ := recover().(string); !strings.HasSuffix(text, " of 10") {
						w.Errorf("endpoints %v: %q", bad, text)
					}
				}()
				table.Peers(bad[0], bad[1])
			}()
		}
		if err := errors.Join(table.Close(), table.Close()); err != nil || table.Len() != 0 {
			w.Errorf("closed: %v, %d", err, table.Len())
		}
		if table, err = mx.ReadAddresses(path); err != nil || table.Len() != 1 {
			w.Errorf("the new one: %v", err)
		}
		table.Close()
	})
}

func TestAddressTablesThatAreNone(t *testing.T) {
	initialize(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "addresses")
	names := []mx.PeerName{{NIC: 0x02000a000001, Endpoint: 3, Filter: 7}, {NIC: 0x02000a000002, Endpoint: 4, Filter: 8}}
	if err := mx.WriteAddresses(path, names); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	read := func(what string, want error) {
		t.Helper()
		if table, err := mx.ReadAddresses(path); !errors.Is(err, want) {
			t.Errorf("%s: %v", what, err)
			if err == nil {
				table.Close()
			}
		}
	}
	for bit := range 8 * len(good) {
		b := append([]byte(nil), good...)
		b[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		read(fmt.Sprintf("bit %d of byte %d is wrong", bit%8, bit/8), mx.ErrBadParamVal)
	}
	for size := range good {
		if err := os.WriteFile(path, good[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		read("it is cut", mx.ErrBadParamVal)
	}
	if err := os.WriteFile(path, good, 0o600); err != nil {
		t.Fatal(err)
	}
	read("whole", nil)
	if err := os.Chmod(path, 0o620); err != nil {
		t.Fatal(err)
	}
	read("others may write", mx.ErrNoPerm)
	_ = os.Remove(path)
	read("there is none", os.ErrNotExist)
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := mx.WriteAddresses(path, names); !errors.Is(err, mx.ErrBadParamVal) {
		t.Errorf("in the place of a pipe: %v", err)
	}
	read("a FIFO", mx.ErrBadParamVal)
	path = dir
	read("a directory", mx.ErrBadParamVal)
	if os.Getuid() == 0 {
		path = filepath.Join(dir, "another's")
		if err := errors.Join(os.WriteFile(path, good, 0o600), os.Chown(path, 65534, 65534)); err != nil {
			t.Fatal(err)
		}
		read("another user's", mx.ErrNoPerm)
	}
	for _, bad := range []struct {
		p    mx.PeerName
		want error
	}{{mx.PeerName{NIC: names[0].NIC, Endpoint: mx.MaxEndpoints}, mx.ErrBadEndpointID}, {mx.PeerName{NIC: 1 << 60}, mx.ErrNICNotFound}} {
		if err := mx.WriteAddresses(filepath.Join(dir, "bad"), []mx.PeerName{bad.p}); !errors.Is(err, bad.want) {
			t.Errorf("%+v: %v", bad.p, err)
		}
	}
	if err := mx.WriteAddresses(filepath.Join(dir, "no", "such"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such directory: %v", err)
	}
}
