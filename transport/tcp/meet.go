//go:build linux

package tcp

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
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
// A proof is an HMAC-SHA-256 with the secret over the side's role, what is unique
// about the TLS session if there is one, and both hellos, whose nonces are fresh.
// Without a secret it is all zero.
type meeting struct {
	port   *port
	tcp    *net.TCPConn
	stream net.Conn // tcp, or TLS over it
	secure *secure  // nil without TLS
	hellos []byte   // both of them, as they were sent
	guest  *guest   // nil on the side that dialled
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

// meet takes over the connection, also when it fails. g is nil on the side that
// has dialled.
func (p *port) meet(ctx context.Context, c *net.TCPConn, deadline time.Time, g *guest,
	talk func(*meeting) (hello, error)) (*link, error) {
	// Whoever says nothing must not hold up Close.
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	m := &meeting{port: p, tcp: c, stream: c, guest: g}
	_ = c.SetDeadline(deadline)
	err := sock.Options{KeepAlive: p.opt.KeepAlive, Send: p.opt.SendBuffer, Receive: p.opt.ReceiveBuffer}.Set(c)
	config := p.client
	if g != nil {
		config = p.server
	}
	if err == nil && config != nil {
		err = m.startTLS(ctx, config)
	}
	var theirs hello
	if err == nil {
		theirs, err = talk(m)
	}
	var l *link
	if err == nil {
		l, err = m.newLink(theirs)
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return l, nil
}

// introduce is the handshake of the side that dialled.
func (m *meeting) introduce(peer transport.Address) (hello, error) {
	mine := m.port.hello(peer)
	if err := m.say(mine.append(nil)); err != nil {
		return hello{}, err
	}
	theirs, err := m.hear()
	if err != nil {
		return hello{}, err
	}
	answers := peer
	switch verdict := m.port.judge(&mine, &theirs); {
	case verdict == otherVersion:
		err = verdict.refusal(&mine, &theirs)
	case theirs.answer == otherBoard && verdict == welcome &&
		theirs.self != peer && theirs.self.Endpoint == peer.Endpoint:
		answers = theirs.self
	case theirs.self != peer && theirs.answer != welcome:
		err = fmt.Errorf("%w: %v answered: %v", transport.ErrRefused, theirs.self, theirs.answer)
	case theirs.self != peer:
		err = fmt.Errorf("%w: %v answered", transport.ErrRefused, theirs.self)
	case theirs.answer != welcome:
		err = fmt.Errorf("%w: %v", transport.ErrRefused, theirs.answer)
	case verdict != welcome: // it should not have welcomed us
		err = verdict.refusal(&mine, &theirs)
	}
	if err == nil {
		err = m.prove(dialled)
	}
	if err == nil {
		err = m.hearVerdict(theirs.answer)
	}
	if err == nil && answers != peer {
		if p := m.port; p.opt.Other != nil {
			p.opt.Other(answers.NIC, m.remote().Addr().Unmap())
		}
		err = &transport.WrongPeerError{Asked: peer, Answered: answers}
	}
	return theirs, err
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

// receive is the handshake of the side that was dialled.
func (m *meeting) receive() (hello, error) {
	theirs, err := m.hear()
	if err != nil {
		return hello{}, err
	}
	mine := m.port.hello(theirs.self)
	mine.answer = m.port.judge(&mine, &theirs)
	if err := m.say(mine.append(nil)); err != nil {
		return hello{}, err
	}
	refusal := mine.answer.refusal(&mine, &theirs)
	if mine.answer != welcome && mine.answer != otherBoard {
		return theirs, refusal
	}
	var b [proofSize]byte
	if err := m.read(b[:]); err != nil {
		return theirs, cmp.Or(refusal, err)
	}
	want, err := m.proof(dialled)
	if err != nil {
		return theirs, err
	}
	if !hmac.Equal(want, b[:]) {
		_ = m.conclude(secretWrong, make([]byte, proofSize))
		return theirs, secretWrong.refusal(&mine, &theirs)
	}
	proof, err := m.proof(accepted)
	if err == nil {
		err = m.conclude(mine.answer, proof)
	}
	return theirs, cmp.Or(refusal, err)
}

// conclude says the verdict.
func (m *meeting) conclude(a answer, proof []byte) error {
	return m.write(append(binary.LittleEndian.AppendUint32(nil, uint32(a)), proof...))
}

// proof returns what the side in that role must say.
func (m *meeting) proof(r role) ([]byte, error) {
	if len(m.port.opt.Secret) == 0 {
		return make([]byte, proofSize), nil
	}
	mac := hmac.New(sha256.New, m.port.opt.Secret)
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

func (m *meeting) hear() (hello, error) {
	var b [helloSize]byte
	if err := m.read(b[:]); err != nil {
		return hello{}, err
	}
	m.hellos = append(m.hellos, b[:]...)
	m.moveOn()
	return parseHello(b[:])
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

func asRefusal(err error) error {
	if sock.Broken(err) {
		err = fmt.Errorf("%w: it broke the connection off: %w", transport.ErrRefused, err)
	}
	return err
}

// brokenOff reports whether a handshake failed because the other side ended the
// connection without an answer.
func brokenOff(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || sock.Broken(err)
}

// newLink takes the socket away from the Go poller.
func (m *meeting) newLink(theirs hello) (*link, error) {
	p := m.port
	remote := m.remote()
	fd, err := sock.Take(m.tcp)
	if err != nil {
		return nil, err
	}
	l := &link{
		fd: fd, peer: -1, key: -1, port: p, tls: m.secure,
		address: theirs.self, session: theirs.session, remote: remote,
	}
	if l.tls != nil {
		l.tls.link = l
	}
	if err := p.keep(l); err != nil {
		sock.Close(fd)
		return nil, err
	}
	if p.opt.Met != nil {
		p.opt.Met(theirs.self.NIC, remote.Addr().Unmap())
	}
	return l, nil
}
