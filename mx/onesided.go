package mx

import (
	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/transport/wire"
)

// Iput writes buf into a window of dest, from the window's byte offset on. It completes when the bytes are there. Until
// then buf must not change, unless Ibuffered reports that it may. The peer's program makes no calls for it and is not
// notified.
//
// Operations that anybody starts after the completion see the bytes. A put of less than 1024 bytes, and operations that
// this endpoint starts after it towards dest, keep their order without waiting: a message that is sent after it matches
// when the bytes are there. Other puts and gets that are pending at the same time are not ordered with each other, nor
// with messages.
//
// The peer checks every access. The request completes with StatusBadRDMAWindow if there is no such window, or if it is
// closed, also during the transfer; with StatusBadRDMARange if offset and length reach beyond it; with
// StatusRDMANotPermitted; with StatusAborted if the peer fails to do its part; or like a send if the session ends. A
// put that the peer has refused has changed nothing. A put that ends because the window is closed, or because the
// session has ended, may have been written, wholly or in part.
//
// Match information is local: TestAny and WaitAny find the request by it. The status has the number of bytes that were
// written, all or none. Puts can't be cancelled. Up to 256 gets and puts that are not small are in progress to a peer
// at a time; further ones, and operations that are started after them, wait. A put to the endpoint itself is complete
// at once.
//
// Errors: ErrBadAddrList, ErrBadEndpoint, ErrBadSegMem, ErrNoResources. Safe from any goroutine.
func (ep *Endpoint) Iput(buf []byte, dest EndpointAddr, w WindowHandle, offset uint32, matchInfo uint64, context any) (Request, error) {
	return ep.access("iput to", (*driver.Endpoint).Put, wire.Vec{First: buf}, dest, w, offset, matchInfo, context)
}

// Put writes buf into a window of dest like Iput, but without a request: buf may be reused when it returns. Nothing
// reports when the bytes are there, but they are there before any operation that this endpoint starts later towards
// dest. Nothing reports either that the peer has refused them; the peer counts that. It returns false if the bytes
// don't fit into one frame, if other operations are queued before it, or if the peer can't be reached; use Iput then.
// It is the fastest way to write a few bytes into the memory of a peer.
//
// Errors: ErrBadAddrList, ErrBadEndpoint. Safe from any goroutine.
func (ep *Endpoint) Put(buf []byte, dest EndpointAddr, w WindowHandle, offset uint32) (bool, error) {
	if dest.ep != ep {
		return false, ep.fail("put to", dest.String(), ep.owns(dest))
	}
	sent, err := ep.d.Write(buf, dest.a, w.ID, offset)
	if err != nil {
		return false, ep.fail("put to", dest.String(), err)
	}
	return sent, nil
}

// Iputv is Iput of the bytes of up to MaxSegments segments, one after the other. The
// list may be changed as soon as the call returns, the bytes not. More segments are
// ErrBadSegCount.
func (ep *Endpoint) Iputv(segs [][]byte, dest EndpointAddr, w WindowHandle, offset uint32, matchInfo uint64, context any) (Request, error) {
	return ep.access("iput to", (*driver.Endpoint).Put, vec(segs), dest, w, offset, matchInfo, context)
}

// Iget reads bytes of a window of src into buf, from the window's byte offset on, as
// many as buf has room for. It completes when they are there, and buf must not be
// touched until then. For the rest it is as Iput. After a failure, what buf holds is
// undefined.
func (ep *Endpoint) Iget(buf []byte, src EndpointAddr, w WindowHandle, offset uint32, matchInfo uint64, context any) (Request, error) {
	return ep.access("iget from", (*driver.Endpoint).Get, wire.Vec{First: buf}, src, w, offset, matchInfo, context)
}

// Igetv is Iget into up to MaxSegments segments, filled one after the other. The list
// may be changed as soon as the call returns. More segments are ErrBadSegCount.
func (ep *Endpoint) Igetv(segs [][]byte, src EndpointAddr, w WindowHandle, offset uint32, matchInfo uint64, context any) (Request, error) {
	return ep.access("iget from", (*driver.Endpoint).Get, vec(segs), src, w, offset, matchInfo, context)
}

// access is what puts and gets have in common.
func (ep *Endpoint) access(op string,
	start func(*driver.Endpoint, wire.Vec, endpoint.Addr, uint64, uint32, uint64, any) (endpoint.Handle, error),
	v wire.Vec, peer EndpointAddr, w WindowHandle, offset uint32, matchInfo uint64, context any,
) (Request, error) {
	if peer.ep != ep {
		return Request{}, ep.fail(op, peer.String(), ep.owns(peer))
	}
	h, err := start(ep.d, v, peer.a, w.ID, offset, matchInfo, context)
	if err != nil {
		return Request{}, ep.fail(op, peer.String(), err)
	}
	return Request{ep, h}, nil
}
