//go:build linux && cgo

package verbs_test

import (
	"sync"
	"testing"
	"time"

	"gomx/transport/rdma"
	"gomx/transport/rdma/internal/verbs"
)

// patience bounds how long a test waits for what must come.
const patience = 20 * time.Second

// end is a QP with all that it needs.
type end struct {
	t        testing.TB
	queue    *verbs.Queue
	inbox    *verbs.Inbox
	qp       *verbs.QP
	sends    *verbs.Sends
	receives *verbs.Receives
}

// bench is a device with two ends of one connection.
type bench struct {
	t      testing.TB
	port   rdma.Port
	gid    rdma.GID
	device *verbs.Device
	domain *verbs.Domain
	a, b   *end
}

const (
	depth     = 64
	pieces    = 4
	batch     = 16
	maxInline = 64
)

// usablePorts looks once: that takes long where tables of GIDs are large.
var usablePorts = sync.OnceValues(func() ([]rdma.Port, error) {
	if err := rdma.Available(); err != nil {
		return nil, err
	}
	return rdma.Ports()
})

// openDevice opens the first device that works. A machine without one skips.
func openDevice(t testing.TB) *bench {
	t.Helper()
	ports, err := usablePorts()
	if err != nil {
		t.Skip("needs an RDMA device, as the machine of integration/rdmavm has: ", err)
	}
	for _, p := range ports {
		gid, _, err := p.Choose(nil)
		if err != nil {
			continue
		}
		device, err := verbs.Open(p.Device)
		check(t, err)
		t.Cleanup(func() { check(t, device.Close()) })
		domain, err := device.NewDomain()
		check(t, err)
		t.Cleanup(func() { check(t, domain.Close()) })
		return &bench{t: t, port: p, gid: gid, device: device, domain: domain}
	}
	t.Fatal("a port is available, and none can be chosen")
	return nil
}

// newPair connects two ends on one device.
func newPair(t testing.TB) *bench {
	b := openDevice(t)
	b.a, b.b = b.newEnd(), b.newEnd()
	b.connect()
	return b
}

// connect connects a with b, both of which are new.
func (b *bench) connect() {
	b.t.Helper()
	state, err := b.device.Port(b.port.Number)
	check(b.t, err)
	path := verbs.Path{
		Port: b.port.Number, GIDIndex: b.gid.Index, Global: b.port.Layer == rdma.Ethernet, HopLimit: 64,
		MTU: state.MTU, Timeout: 10, Retries: 6, ReadsOut: 4, ReadsIn: 4,
	}
	const packetA, packetB = 1, 0xfffff0 // the latter runs over soon
	far := func(e *end, packet uint32) verbs.End {
		return verbs.End{QP: e.qp.Number(), Packet: packet, LID: state.LID, GID: b.gid.Bytes()}
	}
	access := verbs.LocalWrite | verbs.RemoteRead | verbs.RemoteWrite
	check(b.t, b.a.qp.Connect(packetA, far(b.b, packetB), path, access))
	check(b.t, b.b.qp.Connect(packetB, far(b.a, packetA), path, access))
}

func (b *bench) newEnd() *end {
	b.t.Helper()
	e := &end{t: b.t, sends: verbs.NewSends(batch, pieces), receives: verbs.NewReceives(batch)}
	b.t.Cleanup(e.sends.Free)
	b.t.Cleanup(e.receives.Free)
	var err error
	e.queue, err = b.device.NewQueue(4*depth, batch)
	check(b.t, err)
	b.t.Cleanup(func() { check(b.t, e.queue.Close()) })
	e.inbox, err = b.domain.NewInbox(depth)
	check(b.t, err)
	b.t.Cleanup(func() { check(b.t, e.inbox.Close()) })
	e.qp, err = b.domain.NewQP(verbs.QPOptions{
		Queue: e.queue, Inbox: e.inbox, Sends: depth, Pieces: pieces, Inline: maxInline,
	})
	check(b.t, err)
	b.t.Cleanup(func() { check(b.t, e.qp.Close()) })
	return e
}

// register registers memory for the rest of the test.
func (b *bench) register(mem []byte, access verbs.Access) *verbs.Region {
	b.t.Helper()
	r, err := b.domain.Register(mem, access)
	check(b.t, err)
	b.t.Cleanup(func() { check(b.t, r.Close()) })
	return r
}

// post posts what is collected.
func (e *end) post() {
	e.t.Helper()
	n := e.sends.Len()
	if posted, err := e.qp.Post(e.sends); err != nil || posted != n {
		e.t.Fatalf("posted %d of %d: %v", posted, n, err)
	}
	n = e.receives.Len()
	if posted, err := e.inbox.Post(e.receives); err != nil || posted != n {
		e.t.Fatalf("posted %d receives of %d: %v", posted, n, err)
	}
}

// await polls until there are n completions.
func (e *end) await(n int) (all []verbs.Completion) {
	e.t.Helper()
	for begin := time.Now(); len(all) < n; {
		done, err := e.queue.Poll()
		check(e.t, err)
		all = append(all, done...)
		if time.Since(begin) > patience {
			e.t.Fatalf("waited in vain for %d completions: got %v", n, all)
		}
	}
	if len(all) > n {
		e.t.Fatalf("%d completions, want %d: %v", len(all), n, all)
	}
	return all
}

// awaitDone is await for completions that must be of this kind, in this order.
func (e *end) awaitDone(kind verbs.Kind, ids ...uint64) (all []verbs.Completion) {
	e.t.Helper()
	all = e.await(len(ids))
	for i, c := range all {
		if c.Status != verbs.Success || c.Kind != kind || c.ID != ids[i] || c.QP != e.qp.Number() {
			e.t.Fatalf("completion %d is %+v (%v), want kind %d, id %d, queue pair %d",
				i, c, c.Status, kind, ids[i], e.qp.Number())
		}
	}
	return all
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// content fills b with bytes that depend on the place.
func content(b []byte, seed byte) []byte {
	for i := range b {
		b[i] = byte(i)*7 + byte(i>>8) + seed
	}
	return b
}
