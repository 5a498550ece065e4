package mx

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/internal/ended"
	"gomx/transport/nic"
	"gomx/transport/wire"
)

// Listener makes an endpoint a passive one (fi_passive_ep of OFI): who connects to it waits as a ConnectionRequest until the program accepts or
// rejects it. The methods of a Listener may be called from any number of goroutines, unless the endpoint was
// opened with SingleThreaded; each request goes to one of them.
type Listener struct {
	ep *Endpoint
	l  *driver.Listener
}

// Listen makes the endpoint a passive one: from now on, or from its opening on with the parameter Passive, no session begins that a peer asks
// for until the program has accepted it. Sessions that there are go on, and an endpoint that this one connects to itself is
// not asked about. A peer needs the filter, and the secret if there is one, as before. MX does not have it. Errors: ErrBusy if the endpoint has
// a listener or an admission function, ErrBadParamVal if it has contexts, ErrBadEndpoint. Safe from any goroutine.
func (ep *Endpoint) Listen() (*Listener, error) {
	l, err := ep.listen()
	return l, ep.fail("listen", "", err)
}

// listen is Listen without the error handler.
func (ep *Endpoint) listen() (*Listener, error) {
	if ep.group != nil {
		return nil, errManyDoors
	}
	l, err := ep.d.Listen()
	if err != nil {
		return nil, listenCode(err)
	}
	return &Listener{ep, l}, nil
}

// errManyDoors is why an endpoint with contexts has no listener: peers connect with each of its contexts.
var errManyDoors = fmt.Errorf("%w: the endpoint has contexts (WithContexts), and takes whoever has its filter", ErrBadParamVal)

func listenCode(err error) error {
	if errors.Is(err, driver.ErrListens) {
		return fmt.Errorf("%w: it has a listener or an admission function", ErrBusy)
	}
	return err
}

// Credentials are what a transport knows of a peer beside its address: the process and user of one on this host, the other end of a
// connection, whether it has proven the secret, and the certificates that it has shown in TLS, which have been verified.
type Credentials struct {
	PID          int                 // of its process on this host; 0: not known
	UID          int                 // of its user on this host; -1: not known
	Remote       netip.AddrPort      // the other end of a connection; invalid on this host
	Secret       bool                // it has proven that it has the secret
	Certificates []*x509.Certificate // that it has shown in TLS, its own first; they have been verified
}

// ConnectionRequest is a connect of a peer that waits for the program's answer. Accept and Reject may be called from any goroutine, unless the
// endpoint was opened with SingleThreaded, and once.
type ConnectionRequest struct {
	NIC         uint64      // of the peer
	Endpoint    uint32      // likewise; of an endpoint with contexts, each context asks, with an id of its own
	Transport   string      // "shm", "tcp" and so on; "" if the request is over already
	Credentials Credentials // of the peer
	Data        []byte      // that came with the connect: ConnectWith; the program's to keep

	l *Listener
	h endpoint.Handle
}

// String returns the name of the peer, "host:board/id".
func (r *ConnectionRequest) String() string {
	if r.l == nil {
		return peerName(new(nic.Directory), r.NIC, r.Endpoint, wire.Contexts{})
	}
	return peerName(r.l.ep.dir, r.NIC, r.Endpoint, wire.Contexts{})
}

func (l *Listener) request(v *driver.Visitor) *ConnectionRequest {
	return &ConnectionRequest{
		NIC: v.NIC, Endpoint: v.Endpoint, Transport: v.Medium, Credentials: Credentials(v.Credentials), Data: v.Data, l: l, h: v.Handle,
	}
}

// Wait blocks until a connection request has come that no other call has taken, and returns the oldest. It waits until ctx ends, whose
// error it then returns, or until the timeout has passed: Infinite waits for ever, 0 polls once. ctx may be nil. nil without an
// error says that the time has passed, or that Wakeup was called. Error: ErrBadEndpoint if the listener or the endpoint is
// closed, also meanwhile.
//
// A request is there until it is answered; it counts against WithBacklog, and is refused with StatusNotAnswered after
// WithAnswerTimeout. It is over, too, when the peer gives up or its link ends. Pending lists it until then.
func (l *Listener) Wait(ctx context.Context, timeout time.Duration) (*ConnectionRequest, error) {
	v, ok, err := l.l.Wait(ctx, timeout)
	switch {
	case ok:
		return l.request(&v), nil
	case err != nil && !ended.By(ctx, err):
		err = l.fail("wait for connection request", "", err)
	}
	return nil, err
}

// Ready makes a request that completes with StatusSuccess when a connection request waits to be taken, and at once if one
// does: then Wait with a timeout of 0 takes it, if nobody else has. As a Request it stands in sets and queues beside others, also those of other
// endpoints, and wakes who polls their descriptors. It completes with StatusAborted when the listener is closed. Error: ErrBadEndpoint if the
// listener or the endpoint is closed.
func (l *Listener) Ready(matchInfo uint64, context any) (Request, error) {
	h, err := l.l.Ready(matchInfo, context, nil)
	if err != nil {
		return Request{}, l.fail("make ready request", "", err)
	}
	return Request{l.ep, h}, nil
}

// Close rejects the connection requests that wait, and from then on whoever wants to begin a session, with StatusNotListening.
// Sessions that there are go on. Listen makes another listener, and Admit(nil) admits whoever has the filter, as an endpoint does at first. A
// second Close does nothing.
func (l *Listener) Close() { l.l.Close(true) }

// Accept begins the session, with up to MaxConnectData bytes for the program that connects, and returns the peer's address. That program may have
// given up at the same moment: then the session ends soon, as if it had disconnected, and at the latest with the first message to it. Errors: ErrBadRequest if the request
// is over: it was answered, its time has passed, or the peer has gone or given up; ErrConnectionFailed if no
// session could begin all the same; ErrBadParamVal if there is too much data; ErrBadEndpoint.
func (r *ConnectionRequest) Accept(answer []byte) (EndpointAddr, error) {
	if ok, err := r.check("accept", answer); !ok {
		return EndpointAddr{}, err
	}
	a, code, err := r.l.l.Accept(r.h, answer)
	switch {
	case err != nil:
		return EndpointAddr{}, r.fail("accept", err)
	case code != endpoint.Success:
		return EndpointAddr{}, r.fail("accept", fmt.Errorf("%w: the peer has begun another session, or none can begin", ErrConnectionFailed))
	}
	return EndpointAddr{r.l.ep, a}, nil
}

// Reject refuses the session, with up to MaxConnectData bytes for the program that connects, which finds them in its RejectedError. Errors:
// ErrBadRequest if the request is over; ErrBadParamVal if there is too much data; ErrBadEndpoint.
func (r *ConnectionRequest) Reject(answer []byte) error {
	if ok, err := r.check("reject", answer); !ok {
		return err
	}
	return r.fail("reject", r.l.l.Refuse(r.h, answer))
}

// check checks that the request is one of a listener's, and the length of the answer. If not, the error is what the error handler says.
func (r *ConnectionRequest) check(op string, answer []byte) (ok bool, err error) {
	if r.l == nil {
		return false, fail(op, ErrBadRequest, r.String(), errNotFromListener)
	}
	if err := checkConnectData(answer); err != nil {
		return false, r.l.ep.fail(op, r.String(), err)
	}
	return true, nil
}

var errNotFromListener = errors.New("a connection request comes from a Listener's Wait")

func (r *ConnectionRequest) fail(op string, err error) error {
	if errors.Is(err, endpoint.ErrBadRequest) {
		err = fmt.Errorf("%w: %w", ErrBadRequest, errRequestOver)
	}
	return r.l.fail(op, r.String(), err)
}

var errRequestOver = errors.New("the connection request is over: it was answered, its time has passed, or the peer has gone or given up")

func (l *Listener) fail(op, peer string, err error) error {
	if errors.Is(err, driver.ErrQueueClosed) {
		err = fmt.Errorf("%w: the listener is closed", ErrBadEndpoint)
	}
	return l.ep.fail(op, peer, err)
}
