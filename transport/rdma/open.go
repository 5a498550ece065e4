//go:build linux && cgo

package rdma

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"

	"gomx/transport"
	"gomx/transport/internal/epoll"
	"gomx/transport/rdma/internal/slots"
	"gomx/transport/rdma/internal/verbs"
	"gomx/transport/tcp"
)

// What an endpoint has for all its peers.
const (
	batch        = 32   // requests posted, and completions fetched, in one crossing into C
	mostReceives = 8192 // slots for receives, if the device has as many
	mostSignals  = 4096 // completions of sends and reads that may be on their way
	sendSlots    = 128  // for frames on their way out
	tickets      = 4096 // exports at a time
	ticketSize   = 8    // bytes
	bounceSlots  = 16   // for short messages in memory that is not registered
	mostPieces   = 16   // of a read
)

// Open opens the device of the endpoint's board and begins to accept peers. The
// errors are those of the Listener, verbs' own, and transport.ErrUnsupported if the
// board has no port that works, with the reason.
func (t *Transport) Open(o transport.Open) (transport.Port, error) {
	p, err := t.open(o)
	if err != nil {
		return nil, fmt.Errorf("rdma: open %v: %w", o.Self, err)
	}
	return p, nil
}

func (t *Transport) open(o transport.Open) (*port, error) {
	if err := verbs.Load(); err != nil {
		return nil, fmt.Errorf("%w: %w", transport.ErrUnsupported, err)
	}
	at, err := t.choose(o.Self)
	if err != nil {
		return nil, err
	}
	p := &port{
		opt: &t.opt, self: o.Self, session: o.Session, events: o.Events, bell: o.Bell, at: at,
		ready: make(chan struct{}), table: map[uint32]*link{}, all: map[*link]struct{}{},
		soft: systemSysfs.soft(&at.port),
	}
	// The address first: if it is taken, nothing else is made. Who comes waits.
	p.build.add(func() (closer, error) {
		d, err := t.opt.Handshake.Join(o, tcp.RDMA, p.welcome)
		p.listener = d
		return d.Close, err
	})
	p.build.add(p.openDevice)
	p.build.add(p.openPools)
	p.build.add(p.watch)
	if p.build.err != nil {
		return nil, p.build.err
	}
	close(p.ready)
	return p, nil
}

// devicePort is the port of a device that an endpoint uses, and how it is reached there.
type devicePort struct {
	port Port
	gid  GID
	why  string // in words, why this GID
}

// choose returns the first port of the board's devices that works.
func (t *Transport) choose(self transport.Address) (devicePort, error) {
	var devices []string
	var addrs []netip.Addr
	if t.opt.Board != nil {
		devices, addrs = t.opt.Board(self)
	}
	ports, err := systemSysfs.names()
	if err != nil {
		return devicePort{}, err
	}
	ports = slices.DeleteFunc(ports, func(p Port) bool {
		if t.opt.Device != "" {
			return t.opt.Device != p.Device && t.opt.Device != p.String()
		}
		return !slices.Contains(devices, p.Device)
	})
	var not []string
	for _, p := range ports {
		at, err := look(p, addrs)
		if err == nil {
			return at, nil
		}
		not = append(not, err.Error())
	}
	switch {
	case len(not) > 0:
		return devicePort{}, fmt.Errorf("%w: %s", transport.ErrUnsupported, strings.Join(not, "; "))
	case t.opt.Device != "":
		return devicePort{}, fmt.Errorf("%w: this machine has no RDMA device or port %s", transport.ErrUnsupported, t.opt.Device)
	}
	return devicePort{}, fmt.Errorf("%w: the board has no RDMA device", transport.ErrUnsupported)
}

// look finds out how a port would be used.
func look(p Port, addrs []netip.Addr) (at devicePort, err error) {
	systemSysfs.lookQuickly(&p)
	d, err := verbs.Open(p.Device)
	if err != nil {
		return devicePort{}, err
	}
	addGIDs(&p, d)
	at.port = p
	at.gid, at.why, err = p.Choose(addrs)
	return at, errors.Join(err, d.Close())
}

// closer gives a part of a port back.
type closer func() error

// builder makes a port part by part. If one fails, those before it are closed.
type builder struct {
	closers []closer
	err     error
}

func (b *builder) add(make func() (closer, error)) {
	if b.err != nil {
		return
	}
	c, err := make()
	if err != nil {
		b.err = errors.Join(err, b.close())
		return
	}
	b.closers = append(b.closers, c)
}

// close closes the parts, the last one first.
func (b *builder) close() error {
	var errs []error
	for _, c := range slices.Backward(b.closers) {
		errs = append(errs, c())
	}
	b.closers = nil
	return errors.Join(errs...)
}

func (p *port) openDevice() (closer, error) {
	var parts builder
	var limits verbs.Limits
	parts.add(func() (c closer, err error) {
		if p.device, err = verbs.Open(p.at.port.Device); err != nil {
			return nil, err
		}
		limits = p.device.Limits()
		return p.device.Close, nil
	})
	parts.add(func() (c closer, err error) {
		p.state, err = p.device.Port(p.at.port.Number)
		return func() error { return nil }, err
	})
	parts.add(func() (c closer, err error) {
		if p.domain, err = p.device.NewDomain(); err != nil {
			return nil, err
		}
		return p.domain.Close, nil
	})
	parts.add(func() (c closer, err error) {
		p.maxReceives = min(mostReceives, limits.MaxReceives)
		p.maxPieces = min(mostPieces, limits.MaxPieces)
		if limits.MaxReadPieces > 0 {
			p.maxPieces = min(p.maxPieces, limits.MaxReadPieces)
		}
		p.maxSignals = min(mostSignals, limits.MaxCompletions-p.maxReceives-batch)
		if p.maxReceives < LeastSlots || p.maxSignals < batch {
			return nil, fmt.Errorf("%w: %s has room for %d receives and %d completions",
				transport.ErrUnsupported, p.at.port.Device, limits.MaxReceives, limits.MaxCompletions)
		}
		if p.queue, err = p.device.NewQueue(p.maxReceives+p.maxSignals+batch, batch); err != nil {
			return nil, err
		}
		return p.queue.Close, nil
	})
	parts.add(func() (c closer, err error) {
		if p.inbox, err = p.domain.NewInbox(p.maxReceives); err != nil {
			return nil, err
		}
		return p.inbox.Close, nil
	})
	return parts.close, parts.err
}

func (p *port) openPools() (closer, error) {
	var parts builder
	pool := func(to **slots.Pool, access verbs.Access, count, size, least int) {
		parts.add(func() (c closer, err error) {
			if *to, err = slots.New(p.domain, access, count, size, least); err != nil {
				return nil, err
			}
			return (*to).Close, nil
		})
	}
	pool(&p.out, 0, sendSlots, SlotSize, batch)
	pool(&p.tickets, verbs.LocalWrite|verbs.RemoteRead, tickets, ticketSize, batch)
	p.exported.number = rand.Uint64() // so that what peers' tickets leave in a slot is none of ours
	if parts.err == nil {
		p.bounceMost = crossover(p.domain)
	}
	pool(&p.bounce, verbs.LocalWrite|verbs.RemoteRead, bounceSlots, p.bounceMost, 1)
	parts.add(func() (closer, error) {
		p.sends = verbs.NewSends(batch, p.maxPieces)
		p.repost = verbs.NewReceives(spare)
		return func() error { p.sends.Free(); p.repost.Free(); return nil }, nil
	})
	parts.add(func() (closer, error) {
		return p.in.close, p.in.grow(p, p.opt.Slots)
	})
	parts.add(func() (closer, error) {
		return p.memory.open(p), nil
	})
	return parts.close, parts.err
}

// Keys of the descriptors that are watched: the completion queue's, that of the
// device's events, and those of links under the number of their queue pair, which is
// more than 0.
const (
	queueKey = 0
	eventKey = -1
)

// watch has the doorbell look at the completion queue and at what happens to the
// device.
func (p *port) watch() (closer, error) {
	e, err := epoll.New()
	if err != nil {
		return nil, err
	}
	if err = e.Add(p.queue.FD(), queueKey); err == nil {
		err = e.Add(p.device.EventFD(), eventKey)
	}
	if err == nil {
		err = p.bell.Watch(e.FD())
	}
	if err != nil {
		e.Close()
		return nil, err
	}
	p.watched = e
	return func() error { e.Close(); return nil }, nil
}
