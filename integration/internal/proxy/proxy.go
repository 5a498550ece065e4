// Package proxy forwards TCP connections and cuts them. Endpoints whose port
// bases differ meet through it: each dials the other at a port where a proxy
// listens.
package proxy

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// dialTime bounds the forwarding of one connection's beginning.
const dialTime = 5 * time.Second

// Options say what a proxy does.
type Options struct {
	Listen, To int // ports; the proxy listens on all addresses of the host, and keeps the one that it was called at

	// Cut, if not nil, returns after how many bytes in one direction a connection
	// is cut, and whether by a reset. 0: never. It may be called concurrently.
	Cut func() (after int64, reset bool)
}

// Every returns a Cut that cuts after the same number of bytes each time, every
// other time by a reset.
func Every(bytes int64) func() (int64, bool) {
	var n atomic.Int64
	return func() (int64, bool) { return bytes, n.Add(1)%2 == 0 }
}

// About returns a Cut that cuts after a random number of bytes, by a reset or not.
func About(mean int64, seed uint64) func() (int64, bool) {
	var mu sync.Mutex
	rng := rand.New(rand.NewPCG(seed, 0))
	return func() (int64, bool) {
		mu.Lock()
		defer mu.Unlock()
		return 1 + rng.Int64N(2*mean), rng.IntN(2) == 0
	}
}

// Proxy is a proxy that listens. Its methods may be called concurrently.
type Proxy struct {
	o        Options
	listener net.Listener
	all      sync.WaitGroup
	cuts     atomic.Int64

	mu     sync.Mutex
	open   map[net.Conn]struct{}
	closed bool
}

// Start starts a proxy. Close ends it.
func Start(o Options) (*Proxy, error) {
	l, err := net.Listen("tcp", ":"+strconv.Itoa(o.Listen))
	if err != nil {
		return nil, fmt.Errorf("proxy: %w", err)
	}
	p := &Proxy{o: o, listener: l, open: map[net.Conn]struct{}{}}
	p.all.Go(p.accept)
	return p, nil
}

// Cuts returns how many connections were cut.
func (p *Proxy) Cuts() int64 { return p.cuts.Load() }

// Open returns how many connections are open, those of both sides.
func (p *Proxy) Open() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.open)
}

// Close ends the proxy and all connections through it.
func (p *Proxy) Close() {
	_ = p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for c := range p.open {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.all.Wait()
}

func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(time.Millisecond) // out of descriptors, it may be
			continue
		}
		p.all.Go(func() { p.serve(c.(*net.TCPConn)) })
	}
}

// serve forwards one connection until it ends or is cut.
func (p *Proxy) serve(near *net.TCPConn) {
	defer p.forget(near)
	if !p.remember(near) {
		return
	}
	at := near.LocalAddr().(*net.TCPAddr).IP.String()
	c, err := net.DialTimeout("tcp", net.JoinHostPort(at, strconv.Itoa(p.o.To)), dialTime)
	if err != nil {
		_ = near.SetLinger(0) // what listens behind us is gone, and so are we
		return
	}
	far := c.(*net.TCPConn)
	defer p.forget(far)
	if !p.remember(far) {
		return
	}
	var after int64
	var reset bool
	if p.o.Cut != nil {
		after, reset = p.o.Cut()
	}
	ended := make(chan end, 2)
	go func() { ended <- forward(far, near, after) }()
	go func() { ended <- forward(near, far, after) }()
	for range 2 {
		how := <-ended
		if how == finished {
			continue
		}
		if how == cut {
			p.cuts.Add(1)
		}
		if how == broken || reset {
			_ = near.SetLinger(0)
			_ = far.SetLinger(0)
		}
		break // the other direction ends when the connections are closed
	}
}

// end is how one direction of a connection ended.
type end uint8

const (
	finished end = iota // by its sender
	broken              // by an error
	cut                 // by the limit
)

// forward passes bytes on until there are no more or the limit is reached.
func forward(to, from *net.TCPConn, limit int64) end {
	n, err := io.Copy(to, io.LimitReader(from, cmp.Or(limit, int64(1)<<62)))
	switch {
	case n == limit && limit > 0:
		return cut
	case err != nil || to.CloseWrite() != nil:
		return broken
	}
	return finished
}

func (p *Proxy) remember(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.open[c] = struct{}{}
	}
	return !p.closed
}

func (p *Proxy) forget(c net.Conn) {
	p.mu.Lock()
	delete(p.open, c)
	p.mu.Unlock()
	_ = c.Close()
}
