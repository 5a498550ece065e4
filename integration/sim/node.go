package sim

import (
	"errors"
	"time"

	"gomx/endpoint"
	"gomx/transport"
	"gomx/transport/mem"
	"gomx/transport/wire"
)

const tick = time.Millisecond // of engines

// node is one endpoint: its engine, its port, and the program that uses it. It is
// the host of the engine and the owner of the port.
type node struct {
	w      *World
	index  int
	life   int
	engine *endpoint.Engine // nil while the endpoint is closed
	port   *mem.SimPort

	tickAt endpoint.Tick // when the next look at the clock is due, or Never
	drawn  uint64        // how many random numbers have been
	ticks  uint64        // tells timers that have been replaced from the one that holds

	app
}

// What timers are for: the low bits of their argument.
const (
	timerTick = iota
	timerTurn
	timerKinds
)

// nicOf returns the NIC id of an endpoint.
func nicOf(index int) uint64 { return uint64(index) + 10 }

func addressOf(index int) transport.Address { return transport.Address{NIC: nicOf(index)} }

// open begins another life of the endpoint.
func (n *node) open(filter uint32) error {
	n.life++
	cfg := n.w.plan.Engine
	cfg.NIC, cfg.Filter = nicOf(n.index), filter
	cfg.Session = uint32(mix(n.w.plan.Seed<<20^uint64(n.index)<<8^uint64(n.life))) | 1
	cfg.Contexts = contextsOf(n.index, n.life)
	n.engine = endpoint.New(cfg, n)
	n.engine.SetHandler(n.w.plan.Handler && n.w.plan.HandlerAt == 0)
	n.queue = n.engine.OpenQueue()
	var err error
	if n.port, err = n.w.net.Open(addressOf(n.index), cfg.Session, n); err != nil {
		return err
	}
	n.tickAt = endpoint.Never
	n.enter()
	n.windows = nil
	n.beginCounter()
	n.beginAdmissions()
	n.openWindow()
	return nil
}

// close ends a life. Politely, peers are told.
func (n *node) close(politely bool) {
	if politely {
		n.engine.Goodbye()
		n.engine.Flush()
		n.port.Close()
	} else {
		n.port.Crash()
	}
	n.checkWindows(false)
	n.engine = nil
}

// enter tells the engine the time before anything else is done with it.
func (n *node) enter() {
	if now := endpoint.Tick(n.w.net.Now() / tick); now > n.engine.Now() {
		n.engine.Advance(now)
	}
	n.watch(n.engine.Now() + 1)
}

// watch has the engine looked after at a tick, or before.
func (n *node) watch(at endpoint.Tick) {
	if at >= n.tickAt {
		return
	}
	n.tickAt = at
	n.ticks++
	n.port.StartTimer(time.Duration(at)*tick-n.w.net.Now(), n.ticks*timerKinds+timerTick)
}

// Timer implements mem.SimOwner.
func (n *node) Timer(arg uint64) {
	switch arg % timerKinds {
	case timerTurn:
		if arg/timerKinds == n.turns {
			n.turnDue = false
			n.enter()
			n.turn()
			n.flush()
		}
	case timerTick:
		if arg/timerKinds != n.ticks {
			return
		}
		n.tickAt = endpoint.Never
		n.engine.Advance(endpoint.Tick(n.w.net.Now() / tick))
		n.flush()
		if due := n.engine.NextDue(); due != endpoint.Never {
			n.watch(max(due, n.engine.Now()+1))
		}
	}
}

func (n *node) flush() {
	if n.engine.Backlog() {
		n.engine.Flush()
	}
}

// Frame implements mem.SimOwner.
func (n *node) Frame(peer int32, h *wire.Header, payload []byte) {
	n.enter()
	if h.Kind == wire.Eager || h.Kind == wire.Rendezvous {
		if m := messageOf(h.Match); m.from < len(n.w.nodes) && m.to == n.index {
			if f := n.w.flow(m.from, m.life, m.to); f != nil {
				f.arrived(m)
			}
		}
	}
	n.engine.Frame(peer, h, payload)
}

// PullFinished implements mem.SimOwner.
func (n *node) PullFinished(id uint64, ok bool) {
	n.enter()
	n.engine.PullFinished(id, ok)
}

// Polled implements mem.SimOwner.
func (n *node) Polled() {
	n.flush()
	n.wake()
}

// Writable implements mem.SimOwner.
func (n *node) Writable() {
	n.enter()
	n.flush()
}

// LinkUp implements mem.SimOwner.
func (n *node) LinkUp(l *mem.SimLink, dialled bool) {
	n.enter()
	at, _ := l.Peer()
	peer := n.engine.LinkOwner(at.NIC, at.Endpoint, l, dialled)
	l.Bind(peer)
	n.engine.LinkUp(peer, l, dialled)
	n.flush()
}

// LinkDown implements mem.SimOwner.
func (n *node) LinkDown(l *mem.SimLink) {
	n.enter()
	n.engine.LinkDown(l.Number(), l)
	n.flush()
	n.wake()
}

// DialFailed implements mem.SimOwner.
func (n *node) DialFailed(peer transport.Address, err error) {
	n.enter()
	code := endpoint.EndpointUnreachable
	if errors.Is(err, transport.ErrNoPeer) {
		code = endpoint.EndpointClosed
	}
	n.engine.LinkFailed(n.engine.PeerOf(peer.NIC, peer.Endpoint), code)
	n.flush()
	n.wake()
}

// Dial implements endpoint.Host.
func (n *node) Dial(_ int32, nic uint64, id uint32) {
	n.port.Dial(transport.Address{NIC: nic, Endpoint: id})
}

// Adopted implements endpoint.Host.
func (n *node) Adopted(peer int32, link wire.Link) { link.(*mem.SimLink).Bind(peer) }

// Random implements endpoint.Host.
func (n *node) Random() uint64 {
	n.drawn++
	return mix(n.w.plan.Seed<<32 ^ uint64(n.index)<<16 ^ n.drawn)
}

// Tick implements endpoint.Host.
func (n *node) Tick() endpoint.Tick { return endpoint.Tick(n.w.net.Now() / tick) }

// Drop implements endpoint.Host.
func (n *node) Drop(_ int32, link wire.Link, corrupt bool) {
	if corrupt {
		n.w.fail(n, "an engine calls a link corrupt")
	}
	link.(*mem.SimLink).Close()
}
