package mx

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"

	"gomx/transport"
	"gomx/transport/rdma"
	"gomx/transport/shm"
)

var rdmaMedium = medium{
	about:  "processes on this and other hosts, over RDMA devices",
	auto:   true,
	when:   mayUseRDMA,
	far:    true,
	bell:   shm.NewBell, // which watches completion channels as well
	remedy: "; mx_info says what each port lacks; leave rdma out to do without",
	make: func(s *site) (transport.Transport, error) {
		if err := s.wantsRDMA(); err != nil {
			return nil, err
		}
		return rdma.New(rdma.Options{
			Handshake: s.handshake(),
			Board: func(transport.Address) ([]string, []netip.Addr) {
				return s.board.RDMA, s.board.Addrs
			},
			Arena: arena{}, Device: s.env.rdma.device, Credits: s.env.rdma.credits, Slots: s.env.rdma.slots,
		}), nil
	},
}

// errNotEncrypted keeps endpoints from RDMA that were told to encrypt.
var errNotEncrypted = errors.New("TLS is on, and RDMA does not encrypt; name rdma among the transports to use it all the same")

// mayUseRDMA reports whether endpoints on the board use RDMA unasked.
func mayUseRDMA(s *site) (yes bool, no error) {
	switch {
	case !hasRDMA(s):
		return false, nil
	case s.env.tls != nil:
		return false, errNotEncrypted
	}
	return true, nil
}

// hasRDMA reports whether there is a device for endpoints on the board.
func hasRDMA(s *site) bool { return len(s.board.RDMA) > 0 || s.env.rdma.device != "" }

// wantsRDMA returns why the board has no RDMA, if another board would have, or one
// without a device of its own was meant.
func (s *site) wantsRDMA() error {
	if s.dir == nil || hasRDMA(s) {
		return nil
	}
	if err := rdma.Available(); err != nil {
		return err
	}
	var others []string
	for _, b := range s.dir.Boards() {
		for _, device := range b.RDMA {
			others = append(others, fmt.Sprintf("board %d has %s", b.Number, device))
		}
	}
	if len(others) == 0 {
		others = []string{"no board has one, but MX_RDMA_DEVICE can name one that belongs to no interface"}
	}
	return fmt.Errorf("%w: board %d (%s) has no RDMA device; %s",
		transport.ErrUnsupported, s.board.Number, s.board.Interface, strings.Join(others, ", "))
}

// arena is the memory of Alloc.
type arena struct{}

func (arena) Block(b []byte) (block []byte, ok bool) { return shm.Block(b) }

func (arena) WhenFreed(f func(block []byte)) (forget func()) { return shm.WhenFreed(f) }
