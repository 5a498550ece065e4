package mx

import (
	"fmt"

	"gomx/endpoint"
	"gomx/transport/nic"
	"gomx/transport/wire"
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
// (IV.3.3); of a context, those of its endpoint. Error: ErrBadAddrList for the zero address. Safe from any goroutine.
func DecomposeEndpointAddr(addr EndpointAddr) (nicID uint64, endpointID uint32, err error) {
	ok := false
	if addr.ep != nil {
		nicID, endpointID, ok = addr.locate()
	}
	if !ok {
		return 0, 0, fail("decompose endpoint address", ErrBadAddrList, "", nil)
	}
	c, _, _, _ := addr.contexts()
	return nicID, endpointID - uint32(c.Index), nil
}

// locate returns the NIC id and the id that peers dial, which is that of a context.
func (a EndpointAddr) locate() (nicID uint64, id uint32, ok bool) {
	a.ep.d.Query(func(e *endpoint.Engine) { nicID, id, ok = e.Locate(a.a) })
	return nicID, id, ok
}

// Session returns the peer's session number: another one for each incarnation
// of its endpoint.
func (a EndpointAddr) Session() uint32 { return a.a.Session }

// IsZero reports whether a is the zero address.
func (a EndpointAddr) IsZero() bool { return a.ep == nil }

// String returns "host:board/id", or the NIC id in place of a name that is not
// known, and of an endpoint with several contexts "host:board/id.context".
func (a EndpointAddr) String() string {
	if a.ep == nil {
		return "no endpoint"
	}
	id, eid, ok := a.locate()
	if !ok {
		return "no endpoint"
	}
	c, _, _, _ := a.contexts()
	return peerName(a.ep.dir, id, eid, c)
}

// peerName names the endpoint at an id, which may be that of a context.
func peerName(dir *nic.Directory, id uint64, eid uint32, c wire.Contexts) string {
	if name, err := dir.Name(nic.ID(id)); err == nil {
		return name + "/" + idWithContext(eid, c)
	}
	return fmt.Sprintf("%v/%s", nic.ID(id), idWithContext(eid, c))
}

// Addr returns the address of the endpoint to itself (IV.4.1): the endpoint can send messages to it without connecting. Others
// connect, and get an address of their own. Safe from any goroutine.
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
