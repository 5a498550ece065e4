package exs_test

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"gomx/exs"
	"gomx/internal/testlength"
	"gomx/mx"
)

// faker is a program that is no listener of exs, or not one of ours. It returns its address.
func (w *world) faker(f func(c net.Conn)) string {
	w.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	w.ok(err)
	w.Cleanup(func() { _ = ln.Close() })
	go serve(ln, f)
	return ln.Addr().String()
}

// absent is the id of an endpoint that is not there, whatever other tests have open.
const absent = 4090

// answers is a faker that answers a handshake with what change makes of it.
func (w *world) answers(change func(hello []byte)) string {
	w.Helper()
	return w.faker(func(c net.Conn) {
		hello := make([]byte, 72)
		_, _ = io.ReadFull(c, hello)
		binary.LittleEndian.PutUint32(hello[20:], absent)
		change(hello)
		_, _ = c.Write(hello)
		_, _ = io.Copy(io.Discard, c) // until the client has given up
	})
}

// timesOut dials in vain, and returns the error when the dial has come as far as its text says.
func (w *world) timesOut(address, text string) error {
	w.Helper()
	return w.inVain(text, func(timeout time.Duration) error {
		c, err := (&exs.Dialer{Library: w.here, Timeout: timeout}).Dial("exs", address)
		if err == nil {
			_ = c.Close()
		}
		return err
	})
}

// inVain makes a call that times out, and returns the error when the call has come as far as its text says: on a machine that is busy
// that takes time.
func (w *world) inVain(text string, call func(timeout time.Duration) error) error {
	w.Helper()
	for timeout := 100 * time.Millisecond; ; timeout *= 4 {
		err := call(timeout)
		if err == nil {
			w.Fatalf("somebody is there, who ought not to say: %s", text)
		}
		if timeout > bound || strings.Contains(err.Error(), text) {
			return err
		}
	}
}

// at listens in a library, and returns the address.
func (w *world) at(l *exs.Library, network string) string {
	w.Helper()
	ln, err := l.Listen(network, "127.0.0.1:0")
	w.ok(err)
	w.Cleanup(func() { _ = ln.Close() })
	return ln.Addr().String()
}

// mistakes are what users do, and how the call ends that finds out. Their texts are those of "What errors say" of docs/exs.md.
func (w *world) mistakes() map[string]func() error {
	dial := func(l *exs.Library, network, address string) error {
		ctx, stop := context.WithTimeout(context.Background(), bound)
		defer stop()
		_, err := l.DialContext(ctx, network, address)
		return err
	}
	over := func(transport string, more ...mx.Param) *exs.Library {
		return w.open(append(more, mx.WithTransports(transport))...)
	}
	listen := func(network, address string) error {
		_, err := w.there.Listen(network, address)
		return err
	}
	tcp, secret := over("tcp"), over("tcp", mx.WithSecret([]byte("a")))
	return map[string]func() error{
		"nobody listens": func() error { return dial(w.here, "exs", "127.0.0.1:1") },
		"another program listens": func() error {
			return dial(w.here, "exs", w.faker(func(c net.Conn) { _, _ = c.Write([]byte("220 mail.example.com ESMTP\r\n")) }))
		},
		"it hangs up": func() error {
			return dial(w.here, "exs", w.faker(func(c net.Conn) { _, _ = io.ReadFull(c, make([]byte, 72)) }))
		},
		"it is an echo server": func() error {
			return dial(w.here, "exs", w.faker(sendBack))
		},
		"it says nothing": func() error {
			mute, err := net.Listen("tcp", "127.0.0.1:0")
			w.ok(err)
			defer mute.Close()
			return w.timesOut(mute.Addr().String(), "no whole handshake")
		},
		"it has too many clients": func() error {
			return w.timesOut(w.faker(func(c net.Conn) {
				_, _ = c.Write(sentAway())
				_, _ = io.ReadFull(c, make([]byte, 73)) // its hello and its end
			}), "did not let this client in")
		},
		"the queue of the listener is full": func() error {
			ln, err := (&exs.ListenConfig{Library: w.there, Backlog: 1}).Listen(context.Background(), "exs", "127.0.0.1:0")
			w.ok(err)
			defer ln.Close()
			first, err := w.here.Dial("exs", ln.Addr().String())
			w.ok(err)
			defer first.Close()
			return w.timesOut(ln.Addr().String(), "its queue")
		},
		"another version": func() error {
			return dial(w.here, "exs", w.answers(func(hello []byte) {
				binary.LittleEndian.PutUint16(hello[8:], 2)
				hello[11] = 1
			}))
		},
		"no sockets are left": func() error {
			return dial(w.here, "exs", w.answers(func(hello []byte) { hello[11] = 3 }))
		},
		"another type": func() error { return dial(w.here, "exs", w.at(w.there, "exspacket")) },
		"no such endpoint over shm": func() error {
			return dial(over("shm"), "exs", w.answers(func([]byte) {}))
		},
		"no transport but self": func() error {
			return dial(over("self"), "exs", w.at(w.there, "exs"))
		},
		"another program's endpoint": func() error {
			ep, err := w.there.Endpoint()
			w.ok(err)
			_, id, err := mx.DecomposeEndpointAddr(ep.Addr())
			w.ok(err)
			return dial(w.here, "exs", w.answers(func(hello []byte) {
				binary.LittleEndian.PutUint32(hello[20:], id)
				hello[24]++ // its filter
			}))
		},
		"no such endpoint over tcp": func() error {
			return dial(tcp, "exs", w.answers(func([]byte) {}))
		},
		"a secret here": func() error { return dial(secret, "exs", w.at(tcp, "exs")) },
		"a secret there": func() error {
			return dial(tcp, "exs", w.at(secret, "exs"))
		},
		"another secret": func() error {
			return dial(over("tcp", mx.WithSecret([]byte("b"))), "exs", w.at(secret, "exs"))
		},
		"TLS here":  func() error { return dial(over("tcp", mx.WithTLS(w.vouchedFor())), "exs", w.at(tcp, "exs")) },
		"TLS there": func() error { return dial(tcp, "exs", w.at(over("tcp", mx.WithTLS(w.vouchedFor())), "exs")) },
		"no port":   func() error { return dial(w.here, "exs", "127.0.0.1") },
		"a network of others": func() error {
			return dial(w.here, "udp", "127.0.0.1:1")
		},
		"the wrong family": func() error { return dial(w.here, "exs6", "127.0.0.1:1") },
		"the address is taken": func() error {
			return listen("exs", w.at(w.here, "exs"))
		},
		"the address is another host's": func() error { return listen("exs", "203.0.113.9:5000") },
		"two secrets": func() error {
			_, err := (&exs.Dialer{Library: w.here, TLS: &tls.Config{}}).Dial("exs", "127.0.0.1:1")
			return err
		},
		"the library is closed": func() error {
			l := w.open()
			w.ok(l.Close())
			return dial(l, "exs", "127.0.0.1:1")
		},
		"no queue": func() error {
			_, err := w.socket(w.here, exs.Stream).Accept(make([]exs.AcceptAddr, 1), 0, nil)
			refused(w, err, exs.EINVAL)
			s, _ := w.listener(exs.Stream)
			_, err = s.Accept(make([]exs.AcceptAddr, 1), 0, nil)
			return err
		},
		"no Listen": func() error {
			_, _, err := w.socket(w.here, exs.Stream).BlockingAccept()
			return err
		},
		"a queue of no depth": func() error {
			_, err := w.here.Queue(0)
			return err
		},
		"no Bind": func() error { return w.socket(w.here, exs.Stream).Listen(1) },
		"no Connect": func() error {
			_, err := w.socket(w.here, exs.Stream).Write(nil)
			return err
		},
		"closed before": func() error {
			s := w.socket(w.here, exs.Stream)
			w.ok(s.BlockingClose())
			_, err := s.Write(nil)
			return err
		},
		"the socket's dial": func() error { // the same as that of a Dialer
			return w.socket(w.here, exs.Stream).BlockingConnect(netip.MustParseAddrPort("127.0.0.1:1"))
		},
	}
}

var (
	endpointName = regexp.MustCompile(`its endpoint \S+/\d+ `)
	timeTaken    = regexp.MustCompile(`within [0-9.]+m?s`)
)

// generalized is a text without what differs from run to run, and from machine to machine.
func generalized(text string) string {
	text = endpointName.ReplaceAllString(text, "its endpoint there:0/3 ")
	return timeTaken.ReplaceAllString(text, "within 200ms")
}

// written are the messages of docs/exs.md, by the mistakes.
func written(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../docs/exs.md")
	if _, source := os.Stat("mistakes_test.go"); os.IsNotExist(err) && os.IsNotExist(source) {
		t.Skip("the test runs without the sources, as in a virtual machine: docs/exs.md is not here")
	}
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## What errors say\n")
	section, _, _ = strings.Cut(section, "\n## ")
	messages := map[string]string{}
	for _, item := range strings.Split(section, "\n- ")[1:] {
		if mistake, message, ok := strings.Cut(strings.Join(strings.Fields(item), " "), ": `"); ok {
			message, _, _ = strings.Cut(message, "`")
			messages[mistake] = message
		}
	}
	return messages
}

// TestMistakes makes each mistake, and wants the message that docs/exs.md has for it: one line, with everything once.
func TestMistakes(t *testing.T) {
	testlength.Long(t)
	w := newWorld(t, "mem")
	messages := written(t)
	mistakes := w.mistakes()
	for mistake := range messages {
		if mistakes[mistake] == nil {
			t.Errorf("docs/exs.md has %q, and nobody makes that mistake", mistake)
		}
	}
	for mistake, make := range mistakes {
		err := make()
		if err == nil {
			t.Errorf("%s: no error", mistake)
			continue
		}
		whole, text := err.Error(), err.Error()
		if e, ok := err.(*net.OpError); ok {
			text = e.Err.Error() // the rest is package net's
		}
		if text = generalized(text); messages[mistake] != text {
			t.Errorf("docs/exs.md has for %q\n\t%s\nand the message is\n\t%s", mistake, messages[mistake], text)
		}
		for _, once := range []string{"exs: ", "dial ", "connect: ", "listen ", "bind", "refused", "127.0.0.1"} {
			if strings.Count(whole, once) > 1 {
				t.Errorf("%s: %q twice in %s", mistake, once, whole)
			}
		}
		for _, never := range []string{"mx: ", "\n", "dial tcp"} {
			if strings.Contains(whole, never) {
				t.Errorf("%s: %q in %s", mistake, never, whole)
			}
		}
	}
}

// TestNoSocketComesFirst: calls on a socket that is closed, or none, are EBADF whatever else is wrong with them.
func TestNoSocketComesFirst(t *testing.T) {
	w := newWorld(t, "mem")
	closed := w.socket(w.here, exs.Stream)
	w.ok(closed.Close(exs.Block, nil, nil))
	for name, s := range map[string]*exs.Socket{"closed": closed, "zero": {}, "nil": nil} {
		for call, err := range map[string]error{
			"Accept":     second(s.Accept(nil, 0, nil)),
			"RecvOffset": second(s.RecvOffset(nil, -1, 0, nil, nil, nil)),
			"Connect":    s.Connect(netip.AddrPort{}, exs.Peek, -1, nil, nil),
			"Close":      s.Close(exs.Peek, nil, nil),
			"Shutdown":   s.Shutdown(0, exs.Peek, nil, nil),
			"SendFile":   second(s.SendFile([]exs.FileVec{{}}, 0, nil, nil)),
			"Cancel":     second(s.Cancel(nil, exs.Peek)),
			"SendOffset": second(s.SendOffset(nil, -1, 0, nil, nil, nil)),
		} {
			if !errors.Is(err, exs.EBADF) {
				t.Errorf("%s on a %s socket: %v", call, name, err)
			}
		}
	}
}
