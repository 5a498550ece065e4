package mx

import (
	"fmt"

	"gomx/endpoint"
	"gomx/transport/nic"
)

// EndpointAddr is the address of a peer, as one local endpoint knows it (II.3).
// It comes from Connect, from a status, or from Addr, and works with that
// endpoint only. Addresses of the same peer and session compare equal. The zero
// EndpointAddr is never valid.
type EndpointAddr struct {
	ep *Endpoint
	a  endpoint.Addr
}

// DecomposeEndpointAddr returns the NIC id and endpoint id behind an address
// (IV.3.3). Error: ErrBadAddrList for the zero address. Safe from any goroutine.
func DecomposeEndpointAddr(addr EndpointAddr) (nicID uint64, endpointID uint32, err error) {
	ok := false
	if addr.ep != nil {
		addr.ep.d.Query(func(e *endpoint.Engine) { nicID, endpointID, ok = e.Locate(addr.a) })
	}
	if !ok {
		return 0, 0, fail("decompose endpoint address", ErrBadAddrList, "", nil)
	}
	return nicID, endpointID, nil
}

// Session returns the peer's session number: another one for each incarnation
// of its endpoint.
func (a EndpointAddr) Session() uint32 { return a.a.Session }

// IsZero reports whether a is the zero address.
func (a EndpointAddr) IsZero() bool { return a.ep == nil }

// String returns "host:board/id", or the NIC id in place of a name that is not
// known.
func (a EndpointAddr) String() string {
	if a.ep == nil {
		return "no endpoint"
	}
	id, eid, err := DecomposeEndpointAddr(a)
	if err != nil {
		return "no endpoint"
	}
	return peerName(a.ep.dir, id, eid)
}

func peerName(dir *nic.Directory, id uint64, eid uint32) string {
	if name, err := dir.Name(nic.ID(id)); err == nil {
		return fmt.Sprintf("%s/%d", name, eid)
	}
	return fmt.Sprintf("%v/%d", nic.ID(id), eid)
}

// Addr returns the endpoint's own address (IV.4.1). Messages can be sent to it
// without connecting. Safe from any goroutine.
func (ep *Endpoint) Addr() EndpointAddr { return EndpointAddr{ep, ep.self} }

// SetEndpointAddrContext stores a value of the application's with a peer
// (IV.5.1). The address of the peer in a later status gives it back. Error:
// ErrBadAddrList. Safe from any goroutine.
func SetEndpointAddrContext(addr EndpointAddr, context any) error {
	ok := false
	if addr.ep != nil {
		addr.ep.d.Query(func(e *endpoint.Engine) { ok = e.SetAddrContext(addr.a, context) })
	}
	if !ok {
		return fail("set endpoint address context", ErrBadAddrList, "", nil)
	}
	return nil
}

// GetEndpointAddrContext returns what SetEndpointAddrContext stored last, at
// first nil (IV.5.2). Error: ErrBadAddrList. Safe from any goroutine.
func GetEndpointAddrContext(addr EndpointAddr) (context any, err error) {
	ok := false
	if addr.ep != nil {
		addr.ep.d.Query(func(e *endpoint.Engine) { context, ok = e.AddrContext(addr.a) })
	}
	if !ok {
		return nil, fail("get endpoint address context", ErrBadAddrList, "", nil)
	}
	return context, nil
}
