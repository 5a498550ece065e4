package mpi

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"

	"gomx/mpi/internal/service"
	"gomx/mx"
)

// card says where a rank can be reached. Every rank has those of all.
type card struct {
	host    string       // ranks with the same one share a host
	nic     uint64       // the board
	addrs   []netip.Addr // of it
	door    uint32       // the endpoint
	filter  uint32       // a random number: who answers to it is the one that is meant
	cores   cores
	checks  bool // what the ranks do, and the types of messages
	service service.Address
}

// locate notes where the endpoint's board is.
func (k *card) locate(ep *mx.Endpoint) error {
	nic, _, err := mx.DecomposeEndpointAddr(ep.Addr())
	if err != nil {
		return err
	}
	boards, err := mx.Boards()
	if err != nil {
		return err
	}
	k.nic = nic
	if b := int(ep.Board()); b < len(boards) {
		k.addrs = boards[b].Addrs
	}
	return nil
}

// connect connects an endpoint with the rank's. All addresses of the board are tried, once.
func (k *card) connect(ctx context.Context, ep *mx.Endpoint) (mx.EndpointAddr, error) {
	addr, err := ep.ConnectContext(ctx, k.nic, k.door, k.filter)
	if err == nil || !elsewhere(err) {
		return addr, err
	}
	all := []error{err}
	for _, at := range k.addrs {
		nic, err := mx.HostnameToNICID(at.String())
		if err == nil && nic == k.nic {
			continue
		}
		if err == nil {
			addr, err = ep.ConnectContext(ctx, nic, k.door, k.filter)
		}
		if err == nil {
			return addr, nil
		}
		all = append(all, err)
	}
	return mx.EndpointAddr{}, errors.Join(all...)
}

// ask starts to connect an endpoint with the rank's, at the first of its addresses.
func (k *card) ask(ep *mx.Endpoint) (mx.Request, error) {
	return ep.Iconnect(k.nic, k.door, k.filter, 0, nil)
}

// elsewhere reports whether another address may lead to where this one did not.
func elsewhere(err error) bool {
	return errors.Is(err, mx.ErrConnectionFailed) || errors.Is(err, mx.ErrNICNotFound) || errors.Is(err, mx.ErrBadConnectionKey)
}

// cardVersion is the first byte of a card.
const cardVersion = 2

var errCard = errors.New("a rank has handed in what is no card of this version of the program")

// append appends the card's form for other processes.
func (k *card) append(b []byte) []byte {
	le := binary.LittleEndian
	b = append(b, cardVersion)
	b = appendText(b, k.host)
	b = le.AppendUint32(le.AppendUint32(le.AppendUint64(b, k.nic), k.door), k.filter)
	b = le.AppendUint32(le.AppendUint32(le.AppendUint64(b, k.service.NIC), k.service.Endpoint), k.service.Filter)
	b = le.AppendUint32(le.AppendUint16(b, k.cores.count), k.cores.mask)
	checks := byte(0)
	if k.checks {
		checks = 1
	}
	b = append(b, checks)
	for _, a := range k.addrs {
		b = appendText(b, a.String())
	}
	return b
}

func appendText(b []byte, s string) []byte { return append(append(b, byte(len(s))), s...) }

func takeText(b []byte) (string, []byte, bool) {
	if len(b) == 0 || len(b) < 1+int(b[0]) {
		return "", nil, false
	}
	return string(b[1 : 1+int(b[0])]), b[1+int(b[0]):], true
}

// parseCard is the opposite of append.
func parseCard(b []byte) (k card, err error) {
	const fixed = 2*(8+4+4) + 2 + 4 + 1
	if len(b) == 0 || b[0] != cardVersion {
		return k, errCard
	}
	host, b, ok := takeText(b[1:])
	if !ok || len(b) < fixed {
		return k, errCard
	}
	le := binary.LittleEndian
	k.host, k.nic, k.door, k.filter = host, le.Uint64(b), le.Uint32(b[8:]), le.Uint32(b[12:])
	k.service = service.Address{NIC: le.Uint64(b[16:]), Endpoint: le.Uint32(b[24:]), Filter: le.Uint32(b[28:])}
	k.cores = cores{count: le.Uint16(b[32:]), mask: le.Uint32(b[34:])}
	k.checks = b[38] != 0
	for b = b[fixed:]; len(b) > 0; {
		var text string
		if text, b, ok = takeText(b); !ok {
			return k, errCard
		}
		a, err := netip.ParseAddr(text)
		if err != nil {
			return k, fmt.Errorf("%w: %w", errCard, err)
		}
		k.addrs = append(k.addrs, a)
	}
	return k, nil
}
