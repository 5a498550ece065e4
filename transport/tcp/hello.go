//go:build linux

package tcp

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"gomx/transport"
	"gomx/transport/wire"
)

// hello is the first message of each side. The side that dialled sends its hello first.
//
//	0       7         8      12      14       16    24         28        32       40         44        48      80
//	+-------+---------+------+-------+--------+-----+----------+---------+--------+----------+---------+-------+
//	| magic | version | wire | flags | answer | nic | endpoint | session | to nic | endpoint | purpose | nonce |
//	+-------+---------+------+-------+--------+-----+----------+---------+--------+----------+---------+-------+
//
// The size and the first 16 bytes stay what they are in every version, so that
// versions can tell each other that they don't fit.
type hello struct {
	version uint8
	wire    uint32
	flags   uint16
	answer  answer // of the side that was dialled
	self    transport.Address
	session uint32
	to      transport.Address
	purpose Purpose // of the connection; the side that was dialled repeats it
	nonce   [32]byte
}

const (
	magic     = "gomxtcp"
	version   = 3
	helloSize = 80

	flagSecret = 1 // the side has a secret
)

// answer tells a peer whether it is admitted.
type answer uint16

const (
	welcome answer = iota
	otherVersion
	otherEndpoint
	secretMissing // the peer has none
	secretUnknown // this side has none
	secretWrong
	otherBoard // another board, but an endpoint of that number
	notServed  // the purpose
	tlsMissing // the peer has none
	tlsUnknown // this side has none
	closing    // the purpose is not served any more
)

// String says what the answer means to the side that gets it.
func (a answer) String() string {
	switch a {
	case welcome:
		return "welcome"
	case otherVersion:
		return "the versions differ"
	case otherEndpoint:
		return "another endpoint was meant"
	case secretMissing:
		return "it asks for a secret, and this side has none"
	case secretUnknown:
		return "it has no secret, and this side asks for one"
	case secretWrong:
		return "the secrets differ"
	case otherBoard:
		return "another board was meant"
	case notServed:
		return "it does not speak that"
	case tlsMissing:
		return "it asks for TLS, and this side has none"
	case tlsUnknown:
		return "it has no TLS, and this side asks for it"
	case closing:
		return "it is being closed"
	}
	return fmt.Sprintf("reason %d", uint16(a))
}

func (a *acceptor) hello(to transport.Address, purpose Purpose) hello {
	h := hello{version: version, wire: wire.Version, self: a.self, session: a.session, to: to, purpose: purpose}
	if len(a.opt.Secret) > 0 {
		h.flags = flagSecret
	}
	_, _ = rand.Read(h.nonce[:])
	return h
}

func (h *hello) append(b []byte) []byte {
	le := binary.LittleEndian
	b = append(b, magic...)
	b = append(b, h.version)
	b = le.AppendUint32(b, h.wire)
	b = le.AppendUint16(b, h.flags)
	b = le.AppendUint16(b, uint16(h.answer))
	b = le.AppendUint64(b, h.self.NIC)
	b = le.AppendUint32(b, h.self.Endpoint)
	b = le.AppendUint32(b, h.session)
	b = le.AppendUint64(b, h.to.NIC)
	b = le.AppendUint32(b, h.to.Endpoint)
	b = le.AppendUint32(b, uint32(h.purpose))
	return append(b, h.nonce[:]...)
}

// parseHello decodes a hello of any version, which begins with the magic; of others only the first 16 bytes count.
func parseHello(b []byte) (h hello) {
	le := binary.LittleEndian
	h.version, h.wire = b[7], le.Uint32(b[8:])
	h.flags, h.answer = le.Uint16(b[12:]), answer(le.Uint16(b[14:]))
	if !h.fits() {
		return h
	}
	h.self = transport.Address{NIC: le.Uint64(b[16:]), Endpoint: le.Uint32(b[24:])}
	h.session = le.Uint32(b[28:])
	h.to = transport.Address{NIC: le.Uint64(b[32:]), Endpoint: le.Uint32(b[40:])}
	h.purpose = Purpose(le.Uint32(b[44:]))
	copy(h.nonce[:], b[48:])
	return h
}

// fits reports whether both sides speak the same versions.
func (h *hello) fits() bool { return h.version == version && h.wire == wire.Version }

func (h *hello) hasSecret() bool { return h.flags&flagSecret != 0 }

// admission decides whether the peer that sent theirs is admitted, whatever its
// purpose.
func (a *acceptor) admission(mine, theirs *hello) answer {
	switch {
	case !theirs.fits():
		return otherVersion
	case mine.hasSecret() && !theirs.hasSecret():
		return secretMissing
	case !mine.hasSecret() && theirs.hasSecret():
		return secretUnknown
	case theirs.to.Endpoint != a.self.Endpoint:
		return otherEndpoint
	case theirs.to != a.self:
		return otherBoard
	}
	return welcome
}

// refusal says what the answer means to the side that gives it, nil for a welcome.
func (a answer) refusal(mine, theirs *hello) error {
	var why string
	switch a {
	case welcome:
		return nil
	case notServed:
		return &notServedError{theirs.purpose}
	case closing:
		return transport.ErrClosed
	case otherVersion:
		why = fmt.Sprintf("it speaks version %s, this is %s", theirs.versions(), mine.versions())
	case otherEndpoint, otherBoard:
		why = fmt.Sprintf("it wants %v", theirs.to)
	case secretMissing:
		why = "it has no secret, and this side asks for one"
	case secretUnknown:
		why = "it asks for a secret, and this side has none"
	case tlsMissing:
		why = tlsUnknown.String()
	case tlsUnknown:
		why = tlsMissing.String()
	default:
		why = a.String()
	}
	return fmt.Errorf("%w: %s", transport.ErrRefused, why)
}

// versions names the versions of a hello in an error.
func (h *hello) versions() string { return fmt.Sprintf("%d.%d", h.version, h.wire) }
