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

// businessCard is what a rank publishes about itself, above all the address of its endpoint. Every rank has those of all ranks.
type businessCard struct {
	host       string       // ranks with the same one share a host
	nic        uint64       // the board
	addrs      []netip.Addr // of the board
	endpointID uint32
	filter     uint32 // a random number, which tells the endpoint from a later one at the same address
	cores      cores
	checks     bool   // whether the rank checks calls and types (MX_CHECK)
	algorithms string // those chosen for collectives (MX_COLL)
	transports string // between processes, with commas
	service    service.Address
}

// locate sets the addresses of the endpoint's board.
func (k *businessCard) locate(ep *mx.Endpoint) error {
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

// connect connects an endpoint to the rank's. It tries each address of the board once.
func (k *businessCard) connect(ctx context.Context, ep *mx.Endpoint) (mx.EndpointAddr, error) {
	addr, err := ep.ConnectContext(ctx, k.nic, k.endpointID, k.filter)
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
			addr, err = ep.ConnectContext(ctx, nic, k.endpointID, k.filter)
		}
		if err == nil {
			return addr, nil
		}
		all = append(all, err)
	}
	return mx.EndpointAddr{}, errors.Join(all...)
}

// name is what ConnectAll needs to know of the rank's endpoint, at the first of its addresses.
func (k *businessCard) name() mx.PeerName {
	return mx.PeerName{NIC: k.nic, Endpoint: k.endpointID, Filter: k.filter}
}

// elsewhere reports whether the connect may succeed at another address.
func elsewhere(err error) bool {
	return errors.Is(err, mx.ErrConnectionFailed) || errors.Is(err, mx.ErrNICNotFound) || errors.Is(err, mx.ErrBadConnectionKey)
}

// businessCardVersion is the first byte of a business card.
const businessCardVersion = 4

var errBusinessCard = errors.New("a rank has sent a business card that this version of the program does not understand")

// append appends the encoded business card to b.
func (k *businessCard) append(b []byte) []byte {
	le := binary.LittleEndian
	b = append(b, businessCardVersion)
	b = appendText(b, k.host)
	b = le.AppendUint32(le.AppendUint32(le.AppendUint64(b, k.nic), k.endpointID), k.filter)
	b = le.AppendUint32(le.AppendUint32(le.AppendUint64(b, k.service.NIC), k.service.Endpoint), k.service.Filter)
	b = le.AppendUint32(le.AppendUint16(b, k.cores.count), k.cores.mask)
	checks := byte(0)
	if k.checks {
		checks = 1
	}
	b = appendText(appendText(append(b, checks), k.algorithms), k.transports)
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

// parseBusinessCard decodes what append has encoded.
func parseBusinessCard(b []byte) (k businessCard, err error) {
	const fixed = 2*(8+4+4) + 2 + 4 + 1
	if len(b) == 0 || b[0] != businessCardVersion {
		return k, errBusinessCard
	}
	host, b, ok := takeText(b[1:])
	if !ok || len(b) < fixed {
		return k, errBusinessCard
	}
	le := binary.LittleEndian
	k.host, k.nic, k.endpointID, k.filter = host, le.Uint64(b), le.Uint32(b[8:]), le.Uint32(b[12:])
	k.service = service.Address{NIC: le.Uint64(b[16:]), Endpoint: le.Uint32(b[24:]), Filter: le.Uint32(b[28:])}
	k.cores = cores{count: le.Uint16(b[32:]), mask: le.Uint32(b[34:])}
	k.checks = b[38] != 0
	if k.algorithms, b, ok = takeText(b[fixed:]); !ok {
		return k, errBusinessCard
	}
	if k.transports, b, ok = takeText(b); !ok {
		return k, errBusinessCard
	}
	for len(b) > 0 {
		var text string
		if text, b, ok = takeText(b); !ok {
			return k, errBusinessCard
		}
		a, err := netip.ParseAddr(text)
		if err != nil {
			return k, fmt.Errorf("%w: %w", errBusinessCard, err)
		}
		k.addrs = append(k.addrs, a)
	}
	return k, nil
}
