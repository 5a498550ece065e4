//go:build linux

package tcp

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"

	"gomx/transport"
	"gomx/transport/tcp/internal/sock"
)

// A meeting is a connection during its handshake:
//
//	dialler  hello
//	other    hello with its answer; the end unless that is "welcome"
//	dialler  proof, 32 bytes
//	other    verdict, an answer in 4 bytes, and its own proof
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

// meet takes over the connection, also when it fails.
func (p *port) meet(ctx context.Context, c *net.TCPConn, deadline time.Time, config *tls.Config,
	talk func(*meeting) (hello, error)) (*link, error) {
	// Whoever says nothing must not hold up Close.
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	m := &meeting{port: p, tcp: c, stream: c}
	_ = c.SetDeadline(deadline)
	err := sock.Options{KeepAlive: p.opt.KeepAlive, Send: p.opt.SendBuffer, Receive: p.opt.ReceiveBuffer}.Set(c)
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
	switch verdict := m.port.judge(&mine, &theirs); {
	case verdict == otherVersion:
		err = verdict.refusal(&mine, &theirs)
	case theirs.self != peer:
		err = fmt.Errorf("%w: %v answered", transport.ErrRefused, theirs.self)
	case theirs.answer != welcome:
		err = fmt.Errorf("%w: %v", transport.ErrRefused, theirs.answer)
	case verdict != welcome: // it should not have welcomed us
		err = verdict.refusal(&mine, &theirs)
	}
	if err != nil {
		return hello{}, err
	}
	if err := m.prove(dialled); err != nil {
		return hello{}, err
	}
	return theirs, m.hearVerdict()
}

// prove says this side's proof.
func (m *meeting) prove(r role) error {
	proof, err := m.proof(r)
	if err != nil {
		return err
	}
	return m.write(proof)
}

func (m *meeting) hearVerdict() error {
	var b [verdictSize + proofSize]byte
	if err := m.read(b[:]); err != nil {
		return err
	}
	if a := binary.LittleEndian.Uint32(b[:]); a != uint32(welcome) {
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
	if mine.answer != welcome {
		return theirs, mine.answer.refusal(&mine, &theirs)
	}
	var b [proofSize]byte
	if err := m.read(b[:]); err != nil {
		return theirs, err
	}
	want, err := m.proof(dialled)
	if err != nil {
		return theirs, err
	}
	var verdict [verdictSize]byte
	if !hmac.Equal(want, b[:]) {
		binary.LittleEndian.PutUint32(verdict[:], uint32(secretWrong))
		_ = m.write(append(verdict[:], make([]byte, proofSize)...))
		return theirs, fmt.Errorf("%w: %v", transport.ErrRefused, secretWrong)
	}
	proof, err := m.proof(accepted)
	if err != nil {
		return theirs, err
	}
	return theirs, m.write(append(verdict[:], proof...))
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
	return parseHello(b[:])
}

func (m *meeting) write(b []byte) error {
	_, err := m.stream.Write(b)
	return err
}

func (m *meeting) read(b []byte) error {
	n, err := io.ReadFull(m.stream, b)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = fmt.Errorf("%w: it closed the connection after %d bytes of %d", transport.ErrRefused, n, len(b))
	}
	return err
}

// newLink takes the socket away from the Go poller.
func (m *meeting) newLink(theirs hello) (*link, error) {
	p := m.port
	remote := m.tcp.RemoteAddr().(*net.TCPAddr).AddrPort()
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
