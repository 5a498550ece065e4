package pingpong

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"gomx/mx"
)

// Watcher is told how a run goes on. An error from it ends the run.
type Watcher struct {
	Reached func(mx.PeerInfo)  // how the other side is reached, if it is another endpoint that the library found a way to; may be nil
	Began   func() error       // both sides are ready
	Result  func(Result) error // of one length
}

// Run measures the plan and tells each result as soon as it is there. The other
// side is a receiver at Host; or without one the transport decides: "self" is
// one endpoint, "mem" two endpoints of this process, and any other a second
// process that Run starts.
//
// The error is the context's cause if it ended, wraps ErrCorrupt if a message
// did not arrive as it was sent, and is the watcher's if that failed. Setup must have
// been resolved. One Run at a time.
func Run(ctx context.Context, at Setup, p *Plan, w Watcher) (err error) {
	if err := p.Check(); err != nil {
		return err
	}
	if p.Stream && at.Transport == "self" {
		return errors.New("transport self: a stream needs two endpoints: take mem")
	}
	done, err := initialize()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	tell := w.Result
	w.Result = func(r Result) error {
		if r.Transport == "" {
			r.Transport = at.Transport
		}
		return tell(r)
	}
	switch {
	case at.Host != "":
		return runWithHost(ctx, at, p, w)
	case at.Transport == "self":
		return runAlone(ctx, at, p, w)
	case at.Transport == "mem":
		return runInside(ctx, at, p, w)
	}
	return runWithPartner(ctx, at, p, w)
}

// onEndpoint opens an endpoint for f and closes it. When the context ends, f is
// expected to end soon.
func onEndpoint(ctx context.Context, at Setup, f func(*mx.Endpoint) error) error {
	ep, err := at.open()
	if err != nil {
		return err
	}
	err = f(ep)
	closed := ep.Close()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(err, closed)
}

// pinTo binds the process to the core of one side.
func (s *Setup) pinTo(side int) error {
	if len(s.Cores) <= side {
		return nil
	}
	return PinProcess(s.Cores[side])
}

func runAlone(ctx context.Context, at Setup, p *Plan, w Watcher) error {
	if err := at.pinTo(0); err != nil {
		return err
	}
	return onEndpoint(ctx, at, func(ep *mx.Endpoint) error {
		return alone(ctx, ep, at.Filter, p, w)
	})
}

func runWithHost(ctx context.Context, at Setup, p *Plan, w Watcher) error {
	if err := at.pinTo(0); err != nil {
		return err
	}
	nic, err := mx.HostnameToNICID(at.Host)
	if err != nil {
		return err
	}
	return onEndpoint(ctx, at, func(ep *mx.Endpoint) error {
		return leadTo(ctx, ep, nic, at.RemoteEndpoint, at, p, w)
	})
}

func leadTo(ctx context.Context, ep *mx.Endpoint, nic uint64, endpoint uint32, at Setup, p *Plan, w Watcher) error {
	patience, cancel := context.WithTimeout(ctx, at.Patience)
	peer, err := ep.ConnectContext(patience, nic, endpoint, at.Filter)
	cancel()
	if err != nil {
		return at.connectAdvice(err, endpoint)
	}
	if at.LeavesOpen() {
		way := wayTo(ep, peer)
		if w.Reached != nil {
			w.Reached(way)
		}
		tell := w.Result
		w.Result = func(r Result) error {
			way := wayTo(ep, peer)
			r.Transport, r.Instead = way.Transport, way.Instead
			return tell(r)
		}
	}
	return lead(ctx, ep, peer, at.Filter, p, w)
}

// wayTo returns what the library has chosen to reach a peer.
func wayTo(ep *mx.Endpoint, peer mx.EndpointAddr) mx.PeerInfo {
	nic, id, err := mx.DecomposeEndpointAddr(peer) // its NIC id may be another one than that we asked for
	for _, p := range ep.Peers() {
		if err == nil && p.NICID == nic && p.EndpointID == id {
			return p
		}
	}
	return mx.PeerInfo{Transport: Auto}
}

func (s *Setup) connectAdvice(err error, endpoint uint32) error {
	switch {
	case errors.Is(err, mx.ErrBadConnectionKey):
		return fmt.Errorf("%w\n    give both sides the same -f", err)
	case errors.Is(err, mx.ErrNoPeer):
		return fmt.Errorf("%w\n    start a receiver there: %s -s -e %d", err, s.tool(), endpoint)
	case errors.Is(err, mx.ErrTimeout):
		return fmt.Errorf("%w\n    see whether a receiver runs there, and is not stopped: %s -s -e %d", err, s.tool(), endpoint)
	case errors.Is(err, mx.ErrNICNotFound):
		return fmt.Errorf("%w\n    mx_info lists the transports and why one is missing", err)
	}
	return err
}

// Serve is the receiver: it serves one leader after the other until the context
// ends, and reports sessions that went wrong to log. started is called with the
// open endpoint, and nothing is served if it fails.
func Serve(ctx context.Context, at Setup, log io.Writer, started func(*mx.Endpoint) error) (err error) {
	done, err := initialize()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	if err := at.pinTo(1); err != nil {
		return err
	}
	return onEndpoint(ctx, at, func(ep *mx.Endpoint) error {
		if err := started(ep); err != nil {
			return err
		}
		for {
			_, found, err := follow(ctx, ep, at.Filter)
			if !found {
				return err
			}
			if err != nil && ctx.Err() == nil {
				fmt.Fprintf(log, "%s: %v\n", time.Now().Format(time.TimeOnly), err)
			}
		}
	})
}
