package proxy_test

import (
	"errors"
	"io"
	"net"
	"strconv"
	"syscall"
	"testing"

	"gomx/integration/internal/proxy"
	"gomx/internal/freeport"
)

// echoServer answers each connection with what it says, and returns its port.
func echoServer(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(c, c)
				_ = c.Close()
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// talk sends n bytes through a proxy, and returns how many came back.
func talk(t *testing.T, port, n int) int {
	t.Helper()
	c, err := net.Dial("tcp", "127.0.0.1:"+strconv.Itoa(port))
	if errors.Is(err, syscall.ECONNRESET) {
		return 0 // even before the call returned
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	go func() {
		_, _ = c.Write(make([]byte, n))
		_ = c.(*net.TCPConn).CloseWrite()
	}()
	back, _ := io.ReadAll(c)
	return len(back)
}

func TestForwards(t *testing.T) {
	o := proxy.Options{Listen: freeport.Take(t), To: echoServer(t)}
	p, err := proxy.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, n := range []int{0, 1, 1 << 20} {
		if back := talk(t, o.Listen, n); back != n {
			t.Errorf("%d bytes came back as %d", n, back)
		}
	}
	if p.Cuts() != 0 {
		t.Errorf("%d cuts that nobody asked for", p.Cuts())
	}
}

func TestCuts(t *testing.T) {
	o := proxy.Options{Listen: freeport.Take(t), To: echoServer(t), Cut: proxy.Every(10_000)}
	p, err := proxy.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if back := talk(t, o.Listen, 1<<20); back > 10_000 {
			t.Errorf("%d bytes came back through a proxy that cuts after 10,000", back)
		}
	}
	p.Close()
	if p.Cuts() != 4 || p.Open() != 0 {
		t.Errorf("%d cuts of 4 connections, and %d are left open", p.Cuts(), p.Open())
	}
}

func TestNothingBehindIt(t *testing.T) {
	o := proxy.Options{Listen: freeport.Take(t), To: freeport.Take(t)}
	p, err := proxy.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if back := talk(t, o.Listen, 100); back != 0 {
		t.Errorf("%d bytes came back from nobody", back)
	}
}
