package driver_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"gomx/endpoint/driver"
	"gomx/transport"
	"gomx/transport/mem"
)

// registrar is a transport that reaches nobody and wants memory to be registered.
type registrar struct {
	wall
	fails error // of Register

	mu     sync.Mutex
	has    []*byte // where registered memory begins
	closed bool
	odd    error // of release
}

func (c *registrar) Open(transport.Open) (transport.Port, error) { return c, nil }

func (c *registrar) Register(memory []byte) (release func() error, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, transport.ErrClosed
	}
	if c.fails != nil {
		return nil, fmt.Errorf("%s: %w", c.name, c.fails)
	}
	first := unsafe.SliceData(memory)
	c.has = append(c.has, first)
	return func() error {
		c.mu.Lock()
		defer c.mu.Unlock()
		i := slices.Index(c.has, first)
		if i < 0 || c.closed {
			return errors.New("released what it does not have")
		}
		c.has = slices.Delete(c.has, i, i+1)
		return c.odd
	}, nil
}

func (c *registrar) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed, c.has = true, nil
	return nil
}

// with makes an endpoint use these transports only.
func with(list ...transport.Transport) option {
	return func(c *driver.Config) { c.Transports = list }
}

func TestMemoryIsRegisteredWithEveryPortThatWantsIt(t *testing.T) {
	w := newWorld(t, mem.Options{})
	defer w.close()
	a, b := &registrar{wall: wall{name: "a"}}, &registrar{wall: wall{name: "b"}}
	d := w.open(with(a, w.net, b))
	memory := make([]byte, 100)
	var releases []func() error
	for n, part := range [][]byte{memory, memory, memory[10:20]} {
		release, err := d.Register(part)
		if err != nil {
			t.Fatal(err)
		}
		releases = append(releases, release)
		if len(a.has) != n+1 || len(b.has) != n+1 || a.has[n] != unsafe.SliceData(part) || b.has[n] != a.has[n] {
			t.Errorf("after %d registrations there are %d and %d", n+1, len(a.has), len(b.has))
		}
	}
	for n, release := range releases {
		if err := release(); err != nil {
			t.Error(err)
		}
		if err := release(); !errors.Is(err, driver.ErrReleased) {
			t.Errorf("released twice: %v", err)
		}
		if left := 2 - n; len(a.has) != left || len(b.has) != left {
			t.Errorf("%d and %d are left, want %d", len(a.has), len(b.has), left)
		}
	}
}

func TestMediaWithoutRegistrationNeedNothing(t *testing.T) {
	for _, o := range []option{with(), func(*driver.Config) {}} {
		w := newWorld(t, mem.Options{})
		release, err := w.open(o).Register(make([]byte, 10))
		if err != nil {
			t.Fatal(err)
		}
		if err := release(); err != nil {
			t.Error(err)
		}
		if err := release(); !errors.Is(err, driver.ErrReleased) {
			t.Errorf("released twice: %v", err)
		}
		w.close()
	}
}

func TestNothingStaysRegisteredIfAPortCannot(t *testing.T) {
	w := newWorld(t, mem.Options{})
	defer w.close()
	full := errors.New("10 bytes: raise it with ulimit -l 64")
	a, b := &registrar{wall: wall{name: "a"}}, &registrar{wall: wall{name: "b"}, fails: full}
	d := w.open(with(a, b))
	if release, err := d.Register(make([]byte, 10)); !errors.Is(err, full) || !strings.Contains(err.Error(), "b: ") || release != nil {
		t.Errorf("%v", err)
	}
	if len(a.has) != 0 {
		t.Errorf("%d stay registered", len(a.has))
	}
	b.fails = nil
	if _, err := d.Register(make([]byte, 10)); err != nil {
		t.Error(err)
	}
}

func TestReleaseReportsWhatAPortSays(t *testing.T) {
	w := newWorld(t, mem.Options{})
	defer w.close()
	a, b := &registrar{wall: wall{name: "a"}}, &registrar{wall: wall{name: "b"}, odd: errors.New("stuck")}
	release, err := w.open(with(a, b)).Register(make([]byte, 10))
	if err != nil {
		t.Fatal(err)
	}
	if err := release(); !errors.Is(err, b.odd) {
		t.Errorf("%v", err)
	}
	if len(a.has) != 0 {
		t.Error("the other port keeps it")
	}
	if err := release(); !errors.Is(err, driver.ErrReleased) {
		t.Errorf("released twice: %v", err)
	}
}

func TestCloseEndsRegistrations(t *testing.T) {
	for _, o := range []option{func(*driver.Config) {}, singleThreaded} {
		w := newWorld(t, mem.Options{})
		a := &registrar{wall: wall{name: "a"}}
		d := w.open(with(a), o)
		release, err := d.Register(make([]byte, 10))
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		if err := release(); !errors.Is(err, driver.ErrClosed) {
			t.Errorf("released after Close: %v", err)
		}
		if _, err := d.Register(make([]byte, 10)); !errors.Is(err, driver.ErrClosed) {
			t.Errorf("registered after Close: %v", err)
		}
	}
}

// TestRegisterWhileClosing: a port hears nothing of memory after it was closed.
func TestRegisterWhileClosing(t *testing.T) {
	for range 20 {
		w := newWorld(t, mem.Options{})
		a := &registrar{wall: wall{name: "a"}}
		d := w.open(with(a))
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				for {
					release, err := d.Register(make([]byte, 10))
					if err == nil {
						err = release()
					}
					if errors.Is(err, driver.ErrClosed) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()
	}
}
