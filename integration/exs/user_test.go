//go:build linux

package exs_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"gomx/exs"
	"gomx/integration/internal/proc"
	"gomx/mx"
)

// A process of another user is told all that is between it and the listener: it can't share memory, and over TCP it lacks the secret.
func TestDialAsAnotherUser(t *testing.T) {
	const secret = "open sesame"
	need(t, "shm")
	l, err := exs.Open(exs.Version1, mx.WithTransports("shm", "tcp"), mx.WithSecret([]byte(secret)))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ln, err := l.Listen("exs", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	for _, c := range []struct{ secret, says string }{
		{"", "it asks for a secret, and this side has none (MX_SECRET)"},
		{"another", "the secrets differ (MX_SECRET)"},
		{secret, "connected"},
	} {
		o := proc.AsNobody(t, proc.Options{Env: []string{"MX_TRANSPORT=shm,tcp", "MX_SECRET=" + c.secret}})
		said := proc.StartWith(t, o, "knock", ln.Addr()).Hear("dial")
		if !strings.Contains(said, c.says) {
			t.Errorf("with the secret %q: %q, nothing of %q", c.secret, said, c.says)
		}
		if c.secret != secret && (!strings.Contains(said, "belongs to user 0") || !strings.Contains(said, "MX_TRANSPORT")) {
			t.Errorf("with the secret %q: %q, nothing of users and MX_TRANSPORT", c.secret, said)
		}
	}
}

// A listener whose process has become that of another user says so to processes of its former user, which reach it over TCP.
func TestListenerOfAFormerUser(t *testing.T) {
	need(t, "shm")
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	for _, c := range []struct{ transports, says string }{
		{"shm,tcp", "connected"},
		{"shm", "belongs to user 65534, this process to user 0"},
	} {
		o := proc.Options{Env: []string{"MX_TRANSPORT=" + c.transports}}
		ln := proc.StartWith(t, o, "former")
		if said := proc.StartWith(t, o, "knock", ln.Hear("listens")).Hear("dial"); !strings.Contains(said, c.says) {
			t.Errorf("over %s: %q, nothing of %q", c.transports, said, c.says)
		}
		ln.Say("end")
	}
}

// former listens as root, and accepts as nobody.
func former(c *proc.Child) {
	ln, err := exs.Listen("exs", "127.0.0.1:0")
	if err == nil {
		err = syscall.Setuid(nobody)
	}
	if err != nil {
		c.Fail(err)
	}
	c.Say("listens %v", ln.Addr())
	go func() {
		for {
			if _, err := ln.Accept(); err != nil {
				return
			}
		}
	}()
	c.Hear()
}

// nobody is a user who owns nothing.
const nobody = 65534

// knock dials a listener once, and says what came of it.
func knock(c *proc.Child) {
	conn, err := exs.Dial("exs", c.Args[0])
	if err != nil {
		c.Say("dial: %v", err)
		return
	}
	c.Say("dial: connected")
	_ = conn.Close()
}
