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

// A meeting is a connection during its handshake:
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
type meeting struct {
	place    *place
	tcp      *net.TCPConn
	deadline time.Time
	guest    *guest // nil on the side that dialled

	stream  net.Conn    // tcp, or TLS over it
	secure  *secure     // nil without TLS
	unwatch func() bool // lets the connection outlive the context
	taken   bool
	hellos  []byte // both of them, as they were sent
	theirs  hello
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
func (m *meeting) run(ctx context.Context, config *tls.Config, talk func() error) error {
	// Whoever says nothing must not hold up Close.
	m.unwatch = context.AfterFunc(ctx, func() { _ = m.tcp.Close() })
	defer func() {
		if !m.taken {
			m.unwatch()
			_ = m.tcp.Close()
		}
	}()
	m.stream = m.tcp
	_ = m.tcp.SetDeadline(m.deadline)
	o := m.place.opt
	err := sock.Options{KeepAlive: o.KeepAlive, Send: o.SendBuffer, Receive: o.ReceiveBuffer}.Set(m.tcp)
	if err == nil && config != nil {
		err = m.startTLS(ctx, config)
	}
	if err == nil {
		err = talk()
	}
	return err
}

// introduce is the handshake of the side that dialled.
func (m *meeting) introduce(peer transport.Address, purpose Purpose) error {
	mine := m.place.hello(peer, purpose)
	if err := m.say(mine.append(nil)); err != nil {
		return err
	}
	if err := m.hear(); err != nil {
		return err
	}
	if err := m.weigh(&mine, peer); err != nil {
		return err
	}
	err := m.prove(dialled)
	if err == nil {
		err = m.hearVerdict(m.theirs.answer)
	}
	if answers := m.theirs.self; err == nil && answers != peer {
		if o := m.place.opt; o.Other != nil {
			o.Other(answers.NIC, m.remote().Addr().Unmap())
		}
		err = &transport.WrongPeerError{Asked: peer, Answered: answers}
	}
	return err
}

// weigh returns why the answer of the side that was dialled ends the handshake, or
// nil. It may be that of another board.
func (m *meeting) weigh(mine *hello, peer transport.Address) error {
	theirs := &m.theirs
	switch verdict := m.place.judge(mine, theirs); {
	case verdict == otherVersion:
		return verdict.refusal(mine, theirs)
	case theirs.answer == tlsMissing: // and says nothing else
		return fmt.Errorf("%w: %v", transport.ErrRefused, theirs.answer)
	case theirs.answer == otherBoard && verdict == welcome &&
		theirs.self != peer && theirs.self.Endpoint == peer.Endpoint:
		return nil
	case theirs.self != peer && theirs.answer != welcome:
		return fmt.Errorf("%w: %v answered: %v", transport.ErrRefused, theirs.self, theirs.answer)
	case theirs.self != peer:
		return fmt.Errorf("%w: %v answered", transport.ErrRefused, theirs.self)
	case theirs.answer == notServed:
		return &notServedError{mine.purpose}
	case theirs.answer != welcome:
		return fmt.Errorf("%w: %v", transport.ErrRefused, theirs.answer)
	case verdict != welcome: // it should not have welcomed us
		return verdict.refusal(mine, theirs)
	case theirs.purpose != mine.purpose:
		return fmt.Errorf("%w: it speaks %v in place of %v", transport.ErrRefused, theirs.purpose, mine.purpose)
	}
	return nil
}

func (m *meeting) remote() netip.AddrPort { return m.tcp.RemoteAddr().(*net.TCPAddr).AddrPort() }

// prove says this side's proof.
func (m *meeting) prove(r role) error {
	proof, err := m.proof(r)
	if err != nil {
		return err
	}
	return m.write(proof)
}

// hearVerdict hears whether the other side sticks to its answer, and its proof.
func (m *meeting) hearVerdict(want answer) error {
	var b [verdictSize + proofSize]byte
	if err := m.read(b[:]); err != nil {
		return err
	}
	if a := binary.LittleEndian.Uint32(b[:]); a != uint32(want) {
		return fmt.Errorf("%w: %v", transport.ErrRefused, answer(a))
	}
	proof, err := m.proof(accepted)
	if err == nil && !hmac.Equal(proof, b[verdictSize:]) {
		err = fmt.Errorf("%w: it does not know the secret", transport.ErrRefused)
	}
	return err
}

// receive is the handshake of the side that was dialled, after the peer's hello.
func (m *meeting) receive(mine *hello) error {
	if err := m.say(mine.append(nil)); err != nil {
		return err
	}
	refusal := mine.answer.refusal(mine, &m.theirs)
	if mine.answer != welcome && mine.answer != otherBoard {
		return refusal
	}
	var b [proofSize]byte
	if err := m.read(b[:]); err != nil {
		return cmp.Or(refusal, err)
	}
	want, err := m.proof(dialled)
	if err != nil {
		return err
	}
	if !hmac.Equal(want, b[:]) {
		_ = m.conclude(secretWrong, make([]byte, proofSize))
		return secretWrong.refusal(mine, &m.theirs)
	}
	proof, err := m.proof(accepted)
	if err == nil {
		err = m.conclude(mine.answer, proof)
	}
	return cmp.Or(refusal, err)
}

// conclude says the verdict.
func (m *meeting) conclude(a answer, proof []byte) error {
	return m.write(append(binary.LittleEndian.AppendUint32(nil, uint32(a)), proof...))
}

// proof returns what the side in that role must say.
func (m *meeting) proof(r role) ([]byte, error) {
	if len(m.place.opt.Secret) == 0 {
		return make([]byte, proofSize), nil
	}
	mac := hmac.New(sha256.New, m.place.opt.Secret)
	mac.Write([]byte(r))
	if m.secure != nil {
		state := m.secure.conn.ConnectionState()
		unique, err := state.ExportKeyingMaterial("EXPORTER-gomx-tcp", nil, proofSize)
		if err != nil {
			return nil, err
		}
		mac.Write(unique)
	}
	mac.Write(m.hellos)
	return mac.Sum(nil), nil
}

func (m *meeting) say(b []byte) error {
	m.hellos = append(m.hellos, b...)
	return m.write(b)
}

// hear takes the other side's hello.
func (m *meeting) hear() (err error) {
	var b [helloSize]byte
	if err := m.read(b[:]); err != nil {
		return err
	}
	if m.guest != nil && m.secure == nil && begunWithTLS(b[:]) {
		return m.turnAway(tlsUnknown)
	}
	m.hellos = append(m.hellos, b[:]...)
	m.moveOn()
	m.theirs, err = parseHello(b[:])
	return err
}

// moveOn notes that the other side has done a part of the handshake.
func (m *meeting) moveOn() {
	if m.guest != nil {
		m.guest.moveOn()
	}
}

func (m *meeting) write(b []byte) error {
	_, err := m.stream.Write(b)
	return asRefusal(err)
}

func (m *meeting) read(b []byte) error {
	n, err := io.ReadFull(m.stream, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = fmt.Errorf("%w: it closed the connection after %d bytes of %d: %w", transport.ErrRefused, n, len(b), err)
	}
	return asRefusal(err)
}

// asRefusal says of a connection that was broken off that this is a refusal.
func asRefusal(err error) error {
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
