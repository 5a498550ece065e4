//go:build linux

package shm

import (
	"context"
	"fmt"
	"net"
	"time"

	"gomx/transport/internal/segment"
	"gomx/transport/shm/internal/cma"
)

// handshakes bounds the inbound handshakes that are pending at once. Other connections wait
// in the socket's backlog. While more than half of that number are pending, a new one must
// finish within crowdedTime, so that silent connections can't keep peers out.
const (
	handshakes  = 64
	crowdedTime = 100 * time.Millisecond
	acceptAgain = 10 * time.Millisecond
)

func (p *port) accept() {
	defer p.accepting.Done()
	pending := make(chan struct{}, handshakes)
	for {
		c, err := p.listener.AcceptUnix()
		if err != nil {
			if p.closed.Load() {
				return
			}
			p.events.Refused(fmt.Errorf("shm: %v: accepting: %w", p.self, err))
			select { // out of descriptors, most likely: some may come free
			case <-p.life.Done():
			case <-time.After(acceptAgain):
			}
			continue
		}
		pending <- struct{}{}
		patience := handshakeTime
		if len(pending) > handshakes/2 {
			patience = crowdedTime
		}
		p.accepting.Add(1)
		go func() {
			defer func() { <-pending; p.accepting.Done() }()
			// A silent connection must not delay Close.
			stop := context.AfterFunc(p.life, func() { _ = c.Close() })
			_ = c.SetDeadline(time.Now().Add(patience))
			pid, err := p.meet(c)
			if err != nil {
				if !p.closed.Load() { // else it is we who broke it off
					p.events.Refused(fmt.Errorf("shm: %v: refused process %d: %w", p.self, pid, err))
				}
				_ = c.Close()
			}
			stop()
		}()
	}
}

// meet answers whoever has dialled us.
func (p *port) meet(c *net.UnixConn) (pid int, err error) {
	if pid, err = sameUser(c); err == nil {
		err = p.welcome(c, pid)
	}
	if err != nil {
		turnAway(c, err)
	}
	return pid, err
}

// welcome answers a peer that has dialled us.
func (p *port) welcome(c *net.UnixConn, pid int) error {
	h, fds, err := p.listen(c, 3)
	if err != nil {
		return err
	}
	pair, err := segment.Map(fds[0], pairSize, pairSize)
	if err != nil {
		closeFDs(fds[1:])
		return err
	}
	pair.CloseFD()
	_ = cma.AllowPeer(pid)
	arena, err := p.introduce(c, nil)
	if err != nil {
		_ = pair.Close()
		closeFDs(fds[1:])
		return err
	}
	_ = c.SetDeadline(time.Time{})
	l, err := p.newLink(c, pair, false, pid, h, fds[1:], arena)
	if err != nil {
		return err
	}
	p.events.Accepted(l)
	return nil
}
