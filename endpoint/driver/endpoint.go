package driver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"gomx/endpoint"
	"gomx/internal/labels"
	"gomx/transport"
)

// ErrClosed is what calls on a closed endpoint return.
var ErrClosed = errors.New("endpoint is closed")

// Config is what an endpoint is opened with.
type Config struct {
	Engine     endpoint.Config
	Transports []transport.Transport // in order of preference; all claim the address
	Bell       transport.Doorbell

	// Passive has connects wait for Listen from the beginning.
	Passive bool

	// SingleThreaded promises that one goroutine at a time calls the endpoint, which makes its lock cheap. Share disables the
	// mode. Any goroutine may call Close, Wakeup, Pause, Register, Outstanding, Report, Peers, Reason and Query all the same.
	SingleThreaded bool

	// Log gets the rare events that concern peers. It is called with the lock held, must not block and must not call back. It may be nil.
	Log func(Happening)

	// Spin is the longest time to spin before sleeping. Negative: never spin.
	// 0: DefaultSpin.
	Spin time.Duration
}

// Handler is a user's unexpected handler (VII.1.4). It runs without the lock.
type Handler func(m *endpoint.Incoming) endpoint.Action

// Endpoint is one open endpoint.
type Endpoint struct {
	endpointLock
	eng     *endpoint.Engine
	ports   []transport.Port
	turn    uint32         // number of polls by callers that wait
	latest  transport.Port // the port that delivered a frame last, or nil
	foreign bool           // a port polls in C
	offerAt time.Duration  // when to offer the processor to other goroutines because a port polls in C
	woken   atomic.Bool    // a goroutine that was parked

	// Guarded by the endpoint lock.
	poller   *waiter // the waiter with the polling role, or nil
	sleeper  *waiter // the waiter that sleeps on the doorbell, or is waking up
	blocked  int     // callers that wait for something, the poller included
	company  int     // waits to come during which the endpoint counts as used by several goroutines
	dry      int     // passes in a row, by callers that do not wait, that found nothing
	armed    bool    // the program polls the endpoint's descriptor
	closed   bool
	lossy    bool // some link needs the clock for every frame
	wakeups  uint64
	due      endpoint.Tick // when the sleeper wakes up if nothing rings
	stood    time.Duration // how long the process stood still, which the engine does not count
	parked   parking
	sets     []*set // not in use
	pace     pace
	handler  Handler
	handlers []handled // of queues
	waiting  *Listener // of an endpoint that was opened with one, until it is asked for
	handling bool
	own      bool // the endpoint's own goroutine makes the pass
	thrown   any  // what a handler panicked with during the pass
	handled  *sync.Cond
	routes   map[int32]*route
	oddities [transport.CounterEnd]atomic.Uint64
	refused  atomic.Uint64 // handshakes

	memory registry
	log    func(Happening)

	bell  transport.Doorbell
	start time.Time
	inbox inbox
	dials sync.WaitGroup
	back  background

	dialling labels.Labels // of the goroutines that dial

	life context.Context
	end  context.CancelFunc
}

// Open claims the address on every transport. If the address is taken on one of them, none keeps it, and the caller can use the
// transports and the doorbell for another try.
func Open(cfg Config) (*Endpoint, error) {
	d := &Endpoint{
		bell: cfg.Bell, start: time.Now(), log: cfg.Log, dialling: labels.ForEndpoint("connect", cfg.Engine.Endpoint),
		routes: map[int32]*route{}, pace: newPace(cfg.Spin, priceOffers(cfg.Bell.Yield)),
	}
	d.handled = sync.NewCond(&d.mu)
	d.beginSampling()
	d.life, d.end = context.WithCancel(context.Background())
	d.inbox.ring = d.bell.Ring
	self := transport.Address{NIC: cfg.Engine.NIC, Endpoint: cfg.Engine.Endpoint}
	for _, t := range cfg.Transports {
		p, err := t.Open(transport.Open{
			Self: self, Session: cfg.Engine.Session, Events: (*events)(d), Bell: d.bell,
		})
		if err != nil {
			d.closePorts(transport.NewPatience())
			d.end()
			d.pace.end()
			return nil, err
		}
		d.ports = append(d.ports, p)
		if _, ok := p.(transport.Foreign); ok {
			d.foreign = true
		}
	}
	d.eng = endpoint.New(cfg.Engine, (*host)(d)) // after the claims, because it costs more than a claim that fails
	if d.log != nil {
		d.eng.Observe(d.observe)
	}
	if cfg.Passive {
		d.waiting = d.listen()
	}
	if cfg.SingleThreaded {
		d.reserve(d.bell.Fence)
	} else {
		d.learn(d.bell.Fence)
	}
	d.back.begin(d, self)
	return d, nil
}

// Share disables single-threaded mode: from now on any number of goroutines may make requests. The goroutine that has made the
// requests so far calls it.
func (d *Endpoint) Share() { d.share() }

// TakeTurns declares that a number of endpoints, this one included, share a core and wait for each other on it.
func (d *Endpoint) TakeTurns(among int) {
	d.lockForeign()
	d.pace.takeTurns(among)
	d.unlock()
}

// mostIdle is how long Close sleeps at most between two passes.
const mostIdle = time.Millisecond

// Close waits until sends that were reported complete have left. Then it releases pending requests without completing them, ends
// all links and gives the address back. Callers that are blocked return.
func (d *Endpoint) Close() error {
	d.lockForeign()
	for d.handling && !d.closed {
		if insideHandler() {
			d.unlock()
			return ErrInHandler
		}
		d.waitCond(d.handled)
	}
	if d.closed {
		d.unlock()
		return ErrClosed
	}
	d.closed = true // from now on only Close makes passes
	d.wakeAll()
	d.eng.AskAcks()
	patience := transport.NewPatience()
	d.deliver(&patience)
	d.eng.Goodbye()
	for farewell := patience.Again(); d.eng.Unsaid() && !farewell.Over(0); {
		d.progress(false)
		d.idle(patience.Waited())
	}
	d.unlock()
	d.end()
	d.back.stop()
	d.pace.end()
	d.dials.Wait()
	d.memory.close()
	d.lockForeign()
	err := d.closePorts(patience)
	d.unlock()
	d.inbox.close()
	d.bell.Close()
	if thrown := d.thrown; thrown != nil {
		d.thrown = nil // it goes up once
		panic(thrown)
	}
	return err
}

// deliver makes passes until sends that were reported complete have left, or no more of them do.
func (d *Endpoint) deliver(patience *transport.Patience) {
	for {
		left := d.eng.Undelivered()
		if left == 0 || patience.Over(left) {
			return
		}
		d.advance()
		d.progress(false)
		d.idle(patience.Waited())
	}
}

// idle passes the time between two passes of a close. One that has waited for longer than a call spins sleeps, for a small part of that time.
func (d *Endpoint) idle(waited time.Duration) {
	if waited <= d.pace.most {
		d.yield()
		return
	}
	d.outside(func() { time.Sleep(min(waited/8, mostIdle)) })
}

func (d *Endpoint) closePorts(patience transport.Patience) error {
	var errs []error
	for _, p := range d.ports {
		if l, waits := p.(transport.Lingerer); waits {
			l.Linger(patience)
		}
		errs = append(errs, p.Close())
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("closing: %w", err)
	}
	return nil
}
