package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"time"

	"gomx/bench/usage"
)

// serve takes the orders of one client after the other until the context ends, and
// reports what went wrong to log.
func serve(ctx context.Context, l net.Listener, log io.Writer) error {
	defer context.AfterFunc(ctx, func() { _ = l.Close() })()
	for {
		conn, err := l.Accept()
		if ctx.Err() != nil {
			return nil // that is how a server ends
		}
		if err != nil {
			return err
		}
		if err := serveClient(ctx, newWire(conn)); err != nil && ctx.Err() == nil {
			fmt.Fprintf(log, "%s: %v: %v\n", time.Now().Format(time.TimeOnly), conn.RemoteAddr(), err)
		}
	}
}

// serveClient carries out the orders of a client until it disconnects.
func serveClient(ctx context.Context, w *wire) error {
	defer w.Close()
	defer context.AfterFunc(ctx, func() { _ = w.Close() })()
	local, err := netip.ParseAddrPort(w.LocalAddr().String())
	if err != nil {
		return err
	}
	for {
		var o order
		switch err := w.hear(&o); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := obey(ctx, w, &o, local.Addr().Unmap()); err != nil {
			_ = w.send(reply{Complaint: err.Error(), Corrupt: errors.Is(err, errCorrupt)})
			return err
		}
	}
}

// obey carries out one order.
func obey(ctx context.Context, w *wire, o *order, at netip.Addr) error {
	if err := o.check(); err != nil {
		return err
	}
	l, err := o.listen(at)
	if err != nil {
		return err
	}
	defer l.stop()
	defer context.AfterFunc(ctx, l.stop)()
	addr, err := l.addr()
	if err != nil {
		return err
	}
	if err := w.send(reply{Port: addr.Port()}); err != nil {
		return err
	}
	c, err := await(w, l)
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, c.abort)()
	for {
		var r run
		if err := w.hear(&r); err != nil || r.Count <= 0 {
			return errors.Join(err, c.close())
		}
		if err := perform(w, c, o, r); err != nil {
			c.abort()
			return err
		}
	}
}

// await waits for the client's connection, or until the client has gone.
func await(w *wire, l listener) (course, error) {
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		if _, err := w.in.Peek(1); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			l.stop()
		}
	}()
	c, err := l.accept()
	late := w.SetReadDeadline(time.Unix(1, 0)) // no goroutine stays in the way of the run
	<-looked
	return c, errors.Join(err, late, w.SetReadDeadline(time.Time{}))
}

// perform is the receiving side of a run.
func perform(w *wire, c course, o *order, r run) error {
	before := cpuTime()
	receive := c.take
	if o.Latency {
		receive = c.follow
	}
	if err := receive(r.Count, r.Check, func() error { return w.send(reply{}) }); err != nil {
		return err
	}
	return w.send(reply{CPU: cpuTime() - before})
}

// cpuTime is the processor time of this process; 0 where that can't be known.
func cpuTime() time.Duration {
	d, err := usage.Self()
	if err != nil {
		return 0
	}
	return d
}
