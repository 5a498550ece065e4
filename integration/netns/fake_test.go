//go:build linux

package netns_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"gomx/integration/internal/netns"
	"gomx/integration/internal/proc"
	"gomx/integration/internal/traffic"
)

// handshakeSize is the size of a handshake in every version of the transport; its first 16
// bytes mean the same in all of them.
const handshakeSize = 80

// strange returns the handshake of a version that does not exist yet.
func strange() []byte {
	b := append([]byte("gomxtcp"), 99)
	b = binary.LittleEndian.AppendUint32(b, 77) // of frames
	b = binary.LittleEndian.AppendUint16(b, 0)  // flags
	b = binary.LittleEndian.AppendUint16(b, 1)  // the versions differ
	return append(b, make([]byte, handshakeSize-len(b))...)
}

// fake speaks a version that does not exist yet. It answers at one address and
// then calls another.
func fake(c *proc.Child) {
	l, err := net.Listen("tcp", c.Args[0])
	if err != nil {
		c.Fail(err)
	}
	go func() {
		for {
			called, err := l.Accept()
			if err != nil {
				c.Fail(err)
			}
			_, _ = io.ReadFull(called, make([]byte, handshakeSize))
			_, _ = called.Write(strange())
			_ = called.Close()
		}
	}()
	c.Say("listening")
	for {
		to := c.Hear()
		called, err := net.Dial("tcp", to)
		if err != nil {
			c.Fail(err)
		}
		_, _ = called.Write(strange())
		_ = called.SetDeadline(time.Now().Add(10 * time.Second))
		answer, err := io.ReadAll(called)
		c.Say("%d bytes, %v", len(answer), err)
		_ = called.Close()
	}
}

// A peer of another version is refused, whoever begins, and told so.
func TestOtherVersion(t *testing.T) {
	n := netns.New(t, netns.Options{Hosts: 2})
	a := startOn(t, n.Hosts[0], 5)
	other := proc.StartWith(t, on(n.Hosts[1]), "fake", ":20003")
	other.Hear("listening")
	refusal{host: n.Hosts[1].Name, id: 3, filter: traffic.Filter, says: []string{"/5", "/3", "version"}}.check(t, a)
	before := a.Counter(traffic.Refused)
	other.Say("%s", net.JoinHostPort(n.Hosts[0].V4.String(), "20005"))
	if got, want := other.Hear(""), fmt.Sprintf("%d bytes, <nil>", handshakeSize); got != want {
		t.Errorf("the other version got %s, not %s", got, want)
	}
	a.TurnsAway(before)
}
