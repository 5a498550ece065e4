//go:build linux

package tcp

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"gomx/transport"
	"gomx/transport/tcp/internal/sock"
)

// handshake is a connection during its handshake:
//
//	dialler  hello
//	other    hello with its answer; the end unless that is "welcome" or "other board"
//	dialler  proof, 32 bytes
//	other    verdict, an answer in 4 bytes, and its own proof; the end unless that
//	         is "welcome"
//
// "Other board" is for a peer that has reached another board than it meant to,
// which may be the same under another of its addresses. It is proven like a
// welcome, because the peer may believe it.
//
// "Not served" is not proven, and the peer believes it all the same: it goes to another
// transport. Whoever can forge it could as well break the connection off, and the
// other transport asks for a proof of its own.
//
// A proof is an HMAC-SHA-256 with the secret over the side's role, what is unique
// about the TLS session if there is one, and both hellos, whose nonces are fresh.
// Without a secret it is all zero.
type handshake struct {
	acceptor *acceptor
	tcp      *net.TCPConn
	deadline time.Time
	pending  *pendingHandshake // nil on the side that dialled

	stream  net.Conn    // tcp, or TLS over it
	secure  *secure     // nil without TLS
	unwatch func() bool // lets the connection outlive the context
	taken   bool
	hellos  []byte // both of them, as they were sent
	theirs  hello
	agreed  bool // on the side that dialled: the answer does not end the handshake
}

const (
	proofSize   = sha256.Size
	verdictSize = 4
)

// role keeps the proof of one side from being played back as that of the other.
type role string

const (
	dialled  role = "gomx dialler"
	accepted role = "gomx acceptor"
)

// run takes over the connection, has TLS begin if there is a config, and then lets
// the sides talk. It closes the connection unless it was taken.
func (h *handshake) run(ctx context.Context, config *tls.Config, talk func() error) error {
	// A silent peer must not delay Close.
	h.unwatch = context.AfterFunc(ctx, func() { _ = h.tcp.Close() })
	defer func() {
		if !h.taken {
			h.unwatch()
			_ = h.tcp.Close()
		}
	}()
	h.stream = h.tcp
	_ = h.tcp.SetDeadline(h.deadline)
	o := h.acceptor.opt
	err := sock.Options{KeepAlive: o.KeepAlive, Send: o.SendBuffer, Receive: o.ReceiveBuffer}.Set(h.tcp)
	if err == nil && config != nil {
		err = h.startTLS(ctx, config)
	}
	if err == nil {
		err = talk()
	}
	return err
}

// initiate runs the handshake of the side that dialled.
func (h *handshake) initiate(peer transport.Address, purpose Purpose) error {
	mine := h.acceptor.hello(peer, purpose)
	if err := h.writeHello(mine.append(nil)); err != nil {
		return err
	}
	if err := h.readHello(); err != nil {
		return err
	}
	if err := h.checkAnswer(&mine, peer); err != nil {
		return err
	}
	h.agreed = true
	err := h.writeProof(dialled)
	if err == nil {
		err = h.readVerdict(h.theirs.answer)
	}
	if answers := h.theirs.self; err == nil && answers != peer {
		if o := h.acceptor.opt; o.Other != nil {
			o.Other(answers.NIC, h.remote().Addr().Unmap())
		}
		err = &transport.WrongPeerError{Asked: peer, Answered: answers}
	}
	return err
}

// checkAnswer returns why the answer of the side that was dialled ends the handshake, or
// nil. It may be that of another board.
func (h *handshake) checkAnswer(mine *hello, peer transport.Address) error {
	theirs := &h.theirs
	switch verdict := h.acceptor.admission(mine, theirs); {
	case verdict == otherVersion:
		return verdict.refusal(mine, theirs)
	case theirs.answer == tlsMissing: // and the other fields are empty
		return fmt.Errorf("%w: %v", transport.ErrRefused, theirs.answer)
	case theirs.answer == otherBoard && verdict == welcome &&
		theirs.self != peer && theirs.self.Endpoint == peer.Endpoint:
		return nil
	case theirs.self != peer && theirs.answer != welcome:
		return fmt.Errorf("%w: %v answered: %v", transport.ErrRefused, theirs.self, theirs.answer)
	case theirs.self != peer:
		return fmt.Errorf("%w: %v answered", transport.ErrRefused, theirs.self)
	case theirs.answer == closing:
		return fmt.Errorf("%w: %v", transport.ErrNoPeer, theirs.answer)
	case theirs.answer == notServed:
		return &notServedError{mine.purpose}
	case theirs.answer != welcome:
		return fmt.Errorf("%w: %v", transport.ErrRefused, theirs.answer)
	case verdict != welcome: // it should have refused us
		return verdict.refusal(mine, theirs)
	case theirs.purpose != mine.purpose:
		return fmt.Errorf("%w: it speaks %v in place of %v", transport.ErrRefused, theirs.purpose, mine.purpose)
	}
	return nil
}

func (h *handshake) remote() netip.AddrPort { return h.tcp.RemoteAddr().(*net.TCPAddr).AddrPort() }

// writeProof sends this side's proof.
func (h *handshake) writeProof(r role) error {
	proof, err := h.proof(r)
	if err != nil {
		return err
	}
	return h.write(proof)
}

// readVerdict reads the final answer of the other side, which must be want, and checks its proof.
func (h *handshake) readVerdict(want answer) error {
	var b [verdictSize + proofSize]byte
	if err := h.read(b[:]); err != nil {
		return err
	}
	if a := binary.LittleEndian.Uint32(b[:]); a != uint32(want) {
		return fmt.Errorf("%w: %v", transport.ErrRefused, answer(a))
	}
	proof, err := h.proof(accepted)
	if err == nil && !hmac.Equal(proof, b[verdictSize:]) {
		err = fmt.Errorf("%w: it does not know the secret", transport.ErrRefused)
	}
	return err
}

// respond runs the handshake of the side that was dialled, after the peer's hello.
func (h *handshake) respond(mine *hello) error {
	if err := h.writeHello(mine.append(nil)); err != nil {
		return err
	}
	refusal := mine.answer.refusal(mine, &h.theirs)
	if mine.answer != welcome && mine.answer != otherBoard {
		return refusal
	}
	var b [proofSize]byte
	if err := h.read(b[:]); err != nil {
		return cmp.Or(refusal, err)
	}
	want, err := h.proof(dialled)
	if err != nil {
		return err
	}
	if !hmac.Equal(want, b[:]) {
		_ = h.writeVerdict(secretWrong, make([]byte, proofSize))
		return secretWrong.refusal(mine, &h.theirs)
	}
	proof, err := h.proof(accepted)
	if err == nil {
		err = h.writeVerdict(mine.answer, proof)
	}
	return cmp.Or(refusal, err)
}

// writeVerdict sends the final answer and this side's proof.
func (h *handshake) writeVerdict(a answer, proof []byte) error {
	return h.write(append(binary.LittleEndian.AppendUint32(nil, uint32(a)), proof...))
}

// proof returns the proof that the side in that role must send.
func (h *handshake) proof(r role) ([]byte, error) {
	if len(h.acceptor.opt.Secret) == 0 {
		return make([]byte, proofSize), nil
	}
	mac := hmac.New(sha256.New, h.acceptor.opt.Secret)
	mac.Write([]byte(r))
	if h.secure != nil {
		state := h.secure.conn.ConnectionState()
		unique, err := state.ExportKeyingMaterial("EXPORTER-gomx-tcp", nil, proofSize)
		if err != nil {
			return nil, err
		}
		mac.Write(unique)
	}
	mac.Write(h.hellos)
	return mac.Sum(nil), nil
}

func (h *handshake) writeHello(b []byte) error {
	h.hellos = append(h.hellos, b...)
	return h.write(b)
}

// readHello reads the other side's hello.
func (h *handshake) readHello() error {
	var b [helloSize]byte
	if err := h.readPart(b[:], 0, len(magic)); err != nil {
		return err
	}
	switch { // who says something else may wait for an answer with the rest
	case h.pending != nil && h.secure == nil && startsWithTLS(b[:]):
		return h.turnAway(tlsUnknown)
	case string(b[:len(magic)]) != magic:
		return fmt.Errorf("%w: it does not speak the gomx handshake: it began with %q", transport.ErrRefused, b[:len(magic)])
	}
	if err := h.readPart(b[:], len(magic), helloSize); err != nil {
		return err
	}
	h.hellos = append(h.hellos, b[:]...)
	h.advance()
	h.theirs = parseHello(b[:])
	return nil
}

// advance notes that the other side has completed a step of the handshake.
func (h *handshake) advance() {
	if h.pending != nil {
		h.pending.advance()
	}
}

func (h *handshake) write(b []byte) error {
	_, err := h.stream.Write(b)
	return asRefusal(err)
}

func (h *handshake) read(b []byte) error { return h.readPart(b, 0, len(b)) }

// readPart reads what belongs between two places of b.
func (h *handshake) readPart(b []byte, from, to int) error {
	n, err := io.ReadFull(h.stream, b[from:to])
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = fmt.Errorf("%w: it closed the connection after %d bytes of %d: %w", transport.ErrRefused, from+n, len(b), err)
	}
	return asRefusal(err)
}

// asRefusal marks the error of a connection that the peer broke off as a refusal, and that of a peer which does not take the certificate of
// this side: in TLS 1.3 that comes behind the handshake.
func asRefusal(err error) error {
	if alert, ok := errors.AsType[*net.OpError](err); ok && alert.Op == "remote error" {
		return fmt.Errorf("%w: TLS: the peer does not accept this side's certificate, for which an authority among its RootCAs must vouch: %w",
			transport.ErrRefused, err)
	}
	if brokenOff(err) && !errors.Is(err, transport.ErrRefused) {
		err = fmt.Errorf("%w: it broke the connection off: %w", transport.ErrRefused, err)
	}
	return err
}

// brokenOff reports whether a handshake failed because the other side ended the
// connection without an answer.
func brokenOff(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || sock.Broken(err)
}
