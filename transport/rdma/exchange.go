//go:build linux && cgo

package rdma

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"gomx/transport"
	"gomx/transport/rdma/internal/offer"
	"gomx/transport/rdma/internal/verbs"
	"gomx/transport/tcp"
)

// Queue pairs are connected over a TCP connection whose ends are authenticated. The side
// that dialled sends its offer. The other side connects its queue pair to that offer and
// sends its own. The first side connects its queue pair, and sends that it is ready.
// Instead of the message that is due, each side may send a refusal with the reason.
//
// A message is a kind (one byte), the length of its body (two bytes), and the body.
const (
	offerMessage   = 1
	readyMessage   = 2
	refusalMessage = 3

	longestMessage = 1 << 10
)

// Parameters of connections. A lost packet is retransmitted after some 70 ms,
// so a silent peer is given up after half a second.
const (
	packetTimeout = 14
	packetRetries = 6
	hopLimit      = 64
	mostReads     = 16 // under way at a time, of each side
)

// Dial meets the endpoint at peer and connects a queue pair with one of it. The errors
// are those of tcp's Dial, and why either side could not make a queue pair. A
// peer without RDMA is transport.ErrUnsupported.
func (p *port) Dial(ctx context.Context, peer transport.Address) (transport.Link, error) {
	var l *link
	err := p.listener.Dial(ctx, peer, func(_ context.Context, peer *tcp.Peer) (err error) {
		l, err = p.meet(peer, (*link).introduce)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("rdma: %w", transport.Shortage(err))
	}
	return l, nil
}

// welcome answers a peer that has dialled us.
func (p *port) welcome(ctx context.Context, peer *tcp.Peer) error {
	select {
	case <-p.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	l, err := p.meet(peer, (*link).receive)
	if err == nil {
		p.events.Accepted(l)
	}
	return err
}

// meet makes a link, to be connected by talk.
func (p *port) meet(peer *tcp.Peer, talk func(*link, io.ReadWriter, *offer.Offer) error) (*link, error) {
	l, err := p.newLink(peer)
	if err != nil {
		_ = sendMessage(peer.Conn, refusalMessage, []byte(err.Error()))
		return nil, err
	}
	mine := p.offer(l)
	if err = talk(l, peer.Conn, &mine); err == nil {
		l.fd, err = peer.TakeFD()
	}
	if err == nil {
		l.conn = os.NewFile(uintptr(l.fd), "connection")
		err = p.watched.Add(l.fd, int32(l.number))
	}
	if err != nil {
		p.giveUp(l)
		return nil, err
	}
	return l, nil
}

// giveUp gives back a link that does not come about. If the peer has heard of its
// queue pair, messages may have come, so that this is for the next Poll.
func (p *port) giveUp(l *link) {
	if !l.expected {
		_ = l.qp.Close()
		p.in.release(l.granted)
		return
	}
	p.mu.Lock()
	p.failed = append(p.failed, l)
	p.news.Store(true)
	p.mu.Unlock()
	p.bell.Ring()
}

// newLink makes a link with a queue pair of its own, and room for what comes.
func (p *port) newLink(peer *tcp.Peer) (*link, error) {
	granted, err := p.in.grant(p)
	if err != nil {
		return nil, err
	}
	qp, err := p.domain.NewQP(verbs.QPOptions{
		Queue: p.queue, Inbox: p.inbox, Sends: workDepth + 1, Pieces: p.maxPieces, Inline: inlineWanted,
	})
	if err != nil {
		p.in.release(granted)
		return nil, err
	}
	return &link{
		port: p, qp: qp, number: qp.Number(), peer: -1, granted: granted,
		address: peer.Address, session: peer.Session, remote: peer.Remote, credentials: peer.Credentials(),
	}, nil
}

// inlineWanted is how many bytes of a frame should go with its request. Not all devices
// have as many.
const inlineWanted = 220

// offer says what the peer must know of l.
func (p *port) offer(l *link) offer.Offer {
	limits := p.device.Limits()
	return offer.Offer{
		Way: p.at.way(), MTU: uint8(p.state.MTU),
		ReadsIn: uint8(min(limits.MaxReadsIn, mostReads)), ReadsOut: uint8(min(limits.MaxReadsOut, mostReads)),
		QP: l.number, Packet: rand.Uint32N(1 << 24), LID: p.state.LID, Slot: SlotSize,
		GID: p.at.gid.Bytes(), Credits: uint32(l.granted),
	}
}

func (at *devicePort) way() offer.Way {
	switch at.gid.Type {
	case RoCEv1:
		return offer.RoCEv1
	case RoCEv2:
		return offer.RoCEv2
	}
	return offer.InfiniBand
}

// introduce is the exchange of the side that dialled.
func (l *link) introduce(c io.ReadWriter, mine *offer.Offer) error {
	if err := sendMessage(c, offerMessage, mine.Append(nil)); err != nil {
		return err
	}
	theirs, err := hearOffer(c)
	if err == nil {
		err = l.connect(mine, &theirs)
	}
	if err != nil {
		_ = sendMessage(c, refusalMessage, []byte(err.Error()))
		return err
	}
	return sendMessage(c, readyMessage, nil)
}

// receive is the exchange of the side that was dialled.
func (l *link) receive(c io.ReadWriter, mine *offer.Offer) error {
	theirs, err := hearOffer(c)
	if err == nil {
		err = l.connect(mine, &theirs)
	}
	if err != nil {
		_ = sendMessage(c, refusalMessage, []byte(err.Error()))
		return err
	}
	if err = sendMessage(c, offerMessage, mine.Append(nil)); err == nil {
		_, err = receiveMessage(c, readyMessage)
	}
	return err
}

// connect connects the queue pair with the one that the peer has offered. From its
// return on messages may come.
func (l *link) connect(mine, theirs *offer.Offer) error {
	p := l.port
	terms, err := offer.Agree(mine, theirs)
	if err != nil {
		return err
	}
	if theirs.Slot < minSlot {
		return fmt.Errorf("%w: receives of %d bytes are too small", offer.ErrUnfit, theirs.Slot)
	}
	l.caps = p.caps(int(theirs.Slot))
	l.credits = int(theirs.Credits)
	far := verbs.End{QP: theirs.QP, Packet: theirs.Packet, LID: theirs.LID, GID: theirs.GID}
	err = l.qp.Connect(mine.Packet, far, verbs.Path{
		Port: p.at.port.Number, GIDIndex: p.at.gid.Index, Global: p.at.port.Layer == Ethernet, HopLimit: hopLimit,
		MTU: verbs.MTU(terms.MTU), Timeout: packetTimeout, Retries: packetRetries,
		ReadsOut: terms.ReadsOut, ReadsIn: terms.ReadsIn,
	}, verbs.LocalWrite|verbs.RemoteRead)
	if err != nil {
		return err
	}
	return p.expect(l)
}

// minSlot has room for every frame but long payloads.
const minSlot = 1 << 10

func sendMessage(c io.Writer, kind byte, body []byte) error {
	body = body[:min(len(body), longestMessage)]
	b := append([]byte{kind}, byte(len(body)), byte(len(body)>>8))
	_, err := c.Write(append(b, body...))
	return err
}

// receiveMessage returns the body of the peer's next message, which must be of that kind.
func receiveMessage(c io.Reader, kind byte) ([]byte, error) {
	var head [3]byte
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint16(head[1:])
	if n > longestMessage {
		return nil, fmt.Errorf("%w: its message has %d bytes", transport.ErrRefused, n)
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(c, body); err != nil {
		return nil, err
	}
	switch head[0] {
	case kind:
		return body, nil
	case refusalMessage:
		return nil, fmt.Errorf("%w: %q", transport.ErrRefused, body)
	}
	return nil, fmt.Errorf("%w: its message is of kind %d, not %d", transport.ErrRefused, head[0], kind)
}

func hearOffer(c io.Reader) (offer.Offer, error) {
	body, err := receiveMessage(c, offerMessage)
	if err != nil {
		return offer.Offer{}, err
	}
	return offer.Parse(body)
}
