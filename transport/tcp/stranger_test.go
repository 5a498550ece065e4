//go:build linux

package tcp_test

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"gomx/transport"
	"gomx/transport/wire"
)

// greeting is a hello, byte by byte as the wire has it.
type greeting struct {
	magic   string
	version byte
	wire    uint32
	flags   uint16
	answer  uint16
	self    transport.Address
	session uint32
	to      transport.Address
	purpose uint32
	nonce   [32]byte
}

const (
	greetingSize = 80
	proofSize    = 32
	verdictSize  = 4 + proofSize
)

func proper(self, to transport.Address) greeting {
	return greeting{magic: "gomxtcp", version: 3, wire: wire.Version, self: self, session: 77, to: to}
}

func (g *greeting) bytes() []byte {
	le := binary.LittleEndian
	b := append([]byte(g.magic), g.version)
	b = le.AppendUint32(b, g.wire)
	b = le.AppendUint16(b, g.flags)
	b = le.AppendUint16(b, g.answer)
	b = le.AppendUint64(b, g.self.NIC)
	b = le.AppendUint32(b, g.self.Endpoint)
	b = le.AppendUint32(b, g.session)
	b = le.AppendUint64(b, g.to.NIC)
	b = le.AppendUint32(b, g.to.Endpoint)
	b = le.AppendUint32(b, g.purpose)
	return append(b, g.nonce[:]...)
}

// stranger is the address of peers that tests play with bare sockets.
var stranger = transport.Address{NIC: 0x02007f000009, Endpoint: 9}

// call connects to an endpoint's socket.
func call(t testing.TB, e *end) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", listensOn(t, e))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	_ = c.SetDeadline(time.Now().Add(patience))
	return c.(*net.TCPConn)
}

func listensOn(t testing.TB, e *end) string {
	t.Helper()
	return diagnostic(t, e, "listens on")
}

func diagnostic(t testing.TB, e *end, name string) string {
	t.Helper()
	for _, f := range e.port.Diagnostics() {
		if f.Name == name {
			return f.Value
		}
	}
	return ""
}

// enter shakes hands as a peer without a secret does, and binds the link at e.
func enter(t testing.TB, e *end) *net.TCPConn {
	t.Helper()
	c := call(t, e)
	introduce(t, e, c)
	return c
}

// introduce is enter with a connection to e.
func introduce(t testing.TB, e *end, c net.Conn) {
	t.Helper()
	hello := proper(stranger, e.self)
	say(t, c, append(hello.bytes(), make([]byte, proofSize)...))
	answer := hear(t, c, greetingSize+verdictSize)
	if verdict := binary.LittleEndian.Uint32(answer[greetingSize:]); verdict != 0 {
		t.Fatalf("verdict %d, want 0", verdict)
	}
	e.link = e.accept()
	e.link.Bind(0)
}

func say(t testing.TB, c net.Conn, b []byte) {
	t.Helper()
	if _, err := c.Write(b); err != nil {
		t.Fatal(err)
	}
}

func hear(t testing.TB, c net.Conn, n int) []byte {
	t.Helper()
	b := make([]byte, n)
	if _, err := io.ReadFull(c, b); err != nil {
		t.Fatal(err)
	}
	return b
}

// hungUp waits until the other side has closed the connection.
func hungUp(t testing.TB, c net.Conn) {
	t.Helper()
	if n, err := io.Copy(io.Discard, c); err != nil && isTimeout(err) {
		t.Fatalf("still open after %d bytes: %v", n, err)
	}
}

func isTimeout(err error) bool {
	e, ok := err.(net.Error)
	return ok && e.Timeout()
}
