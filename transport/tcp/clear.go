//go:build linux

package tcp

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strings"

	"gomx/transport"
	"gomx/transport/wire"
)

// Where one side has TLS and the other has not, the side that was dialled says so in the clear, with a hello that has
// nothing but its answer. Nobody can prove that, and it is believed all the same: whoever can forge it could as well
// break the connection off.

// drainLimit bounds what is read from a refused peer, in bytes. It is more than the first message of TLS.
const drainLimit = 64 << 10

// startsInTheClear reports whether a handshake of TLS failed because the other side's first bytes are those of a hello.
func startsInTheClear(err error) bool {
	e, ok := errors.AsType[tls.RecordHeaderError](err)
	return ok && strings.HasPrefix(magic, string(e.RecordHeader[:]))
}

// startsWithTLS reports whether the first bytes of the other side are those of a handshake of TLS.
func startsWithTLS(b []byte) bool {
	const handshake, major = 22, 3
	return b[0] == handshake && b[1] == major
}

// onlyOneHasTLS ends the handshake of a side with TLS whose peer has none.
func (h *handshake) onlyOneHasTLS() error {
	if h.pending != nil {
		return h.turnAway(tlsMissing)
	}
	return fmt.Errorf("%w: %v", transport.ErrRefused, tlsUnknown)
}

// turnAway refuses a peer in the clear, with the reason. It waits until the peer has hung up: an end of the connection
// with something unread would be a reset, which may come before the answer is read.
func (h *handshake) turnAway(a answer) error {
	why := hello{version: version, wire: wire.Version, answer: a}
	if _, err := h.tcp.Write(why.append(nil)); err == nil && h.tcp.CloseWrite() == nil {
		_, _ = io.CopyN(io.Discard, h.tcp, drainLimit)
	}
	return a.refusal(nil, nil)
}
