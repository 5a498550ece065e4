package exs

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// hello is the handshake message that two sockets exchange over TCP before they are connected, in helloSize bytes. First the client
// sends its proposal, then the server what was agreed. When the client has connected to the server's endpoint and has
// identified itself there by the nonce, both send one more byte.
type hello struct {
	version  int
	typ      int
	verdict  verdict // of the server
	endpoint endpointAddr
	conn     uint32
	tag      uint32
	credits  int
	small    int
	buffer   int // that this side has for a stream at most
	nonce    nonce
	again    uint32 // of the server: 0, or direct and its listener's number and tag: the client may connect directly from now on
}

type nonce [16]byte

// verdict is the server's answer to a client.
type verdict uint8

const (
	accepted verdict = iota
	otherVersion
	otherType
	noRoom
	crowded // the server has too many clients at once, or too few files for them: the client has to try again
	unknown // no listener there knows the client and has the address that it names: the client connects over TCP
)

const (
	helloSize = 72
	magic     = "gomx exs"
	done      = 0xe5 // the byte that each side ends with

	direct   = 1 << 31 // in hello.again
	nameMask = 1<<(connBits+tagBits) - 1
)

// useEXS is the remedy where somebody listens who is no exs listener.
const useEXS = "check the port, or use exs on both sides"

var errNotEXS = errors.New("the other side is not an exs listener, or has broken the handshake")

func newNonce() (n nonce) {
	_, _ = rand.Read(n[:])
	return n
}

func (h *hello) write(w io.Writer) error {
	var b [helloSize]byte
	h.encode(b[:])
	_, err := w.Write(b[:])
	return err
}

// encode makes the helloSize bytes of h.
func (h *hello) encode(b []byte) {
	copy(b, magic)
	put := binary.LittleEndian
	put.PutUint16(b[8:], uint16(h.version))
	b[10], b[11] = byte(h.typ), byte(h.verdict)
	put.PutUint64(b[12:], h.endpoint.nic)
	put.PutUint32(b[20:], h.endpoint.eid)
	put.PutUint32(b[24:], h.endpoint.filter)
	put.PutUint32(b[28:], h.conn)
	put.PutUint32(b[32:], h.tag)
	put.PutUint32(b[36:], uint32(h.credits))
	put.PutUint32(b[40:], uint32(h.small))
	put.PutUint64(b[44:], uint64(h.buffer))
	copy(b[52:], h.nonce[:])
	put.PutUint32(b[68:], h.again)
}

// read reads the other side's hello. errNotEXS: its bytes are not a hello.
func (h *hello) read(r io.Reader) error {
	var b [helloSize]byte
	if _, err := io.ReadFull(r, b[:len(magic)]); err != nil {
		return err
	}
	if string(b[:len(magic)]) != magic {
		return tell(fmt.Sprintf("the other side is not an exs listener: it began with %q; %s", b[:len(magic)], useEXS), errNotEXS)
	}
	if _, err := io.ReadFull(r, b[len(magic):]); err != nil {
		return err
	}
	return h.decode(b[:])
}

// decode reads the helloSize bytes of a hello, behind the magic, which the caller has checked. errNotEXS: they are not valid.
func (h *hello) decode(b []byte) error {
	get := binary.LittleEndian
	*h = hello{
		version: int(get.Uint16(b[8:])), typ: int(b[10]), verdict: verdict(b[11]),
		endpoint: endpointAddr{get.Uint64(b[12:]), get.Uint32(b[20:]), get.Uint32(b[24:])},
		conn:     get.Uint32(b[28:]), tag: get.Uint32(b[32:]),
		credits: int(get.Uint32(b[36:])), small: int(get.Uint32(b[40:])), buffer: int(get.Uint64(b[44:])),
		again: get.Uint32(b[68:]),
	}
	copy(h.nonce[:], b[52:])
	if h.conn >= maxSockets || h.tag >= 1<<tagBits || h.credits < 1 || h.credits > MaxCredits ||
		h.small < 0 || h.small > MaxSmallPacket || h.buffer < 0 || h.buffer > MaxStreamBuf || h.again&^(direct|nameMask) != 0 {
		return errNotEXS
	}
	return nil
}

// proposal returns the hello that a socket sends first.
func (s *Socket) proposal() hello {
	return hello{
		version: Version1, typ: s.typ, endpoint: s.l.home, conn: s.conn, tag: s.tag,
		credits: s.options.credits, small: s.options.small, buffer: s.options.buffer,
	}
}

// agree adopts the values of the other side's hello. The lock is held, or no other goroutine knows the socket.
func (s *Socket) agree(h *hello) {
	s.options.agree(h.credits, h.small)
	s.out = toward(h.conn, h.tag)
	s.packets.window = uint32(min(s.options.credits, maxOutstanding))
}

func sendDone(w io.Writer) error {
	_, err := w.Write([]byte{done})
	return err
}

func receiveDone(r io.Reader) error {
	var b [1]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return err
	}
	if b[0] != done {
		return errNotEXS
	}
	return nil
}
