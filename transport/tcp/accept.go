//go:build linux

package tcp

import (
	"fmt"
	"net"
	"time"
)

// handshakes is how many strangers may be talking to us at once. Others wait in
// the socket's backlog. Once half the places are taken, newcomers must be done
// within crowdedTime, so that those who say nothing can't keep peers out.
const (
	handshakes  = 64
	crowdedTime = 100 * time.Millisecond
	acceptAgain = 10 * time.Millisecond
)

func (p *port) accept(listener *net.TCPListener, places chan struct{}) {
	defer p.accepting.Done()
	for {
		select {
		case places <- struct{}{}:
		case <-p.life.Done():
			return
		}
		c, err := listener.AcceptTCP()
		if err != nil {
			<-places
			if p.closed.Load() {
				return
			}
			p.refuse(fmt.Errorf("accepting on %v: %w", listener.Addr(), err))
			select { // out of descriptors, most likely: some may come free
			case <-p.life.Done():
			case <-time.After(acceptAgain):
			}
			continue
		}
		patience := p.opt.ConnectTimeout
		if len(places) > handshakes/2 {
			patience = min(patience, crowdedTime)
		}
		p.accepting.Add(1)
		go func() {
			defer func() { <-places; p.accepting.Done() }()
			p.welcome(c, time.Now().Add(patience))
		}()
	}
}

// welcome answers a peer that has dialled us.
func (p *port) welcome(c *net.TCPConn, deadline time.Time) {
	from := c.RemoteAddr()
	var theirs hello
	l, err := p.meet(p.life, c, deadline, p.server, func(m *meeting) (h hello, err error) {
		theirs, err = m.receive()
		return theirs, err
	})
	if err != nil {
		who := from.String()
		if theirs.version == version {
			who = fmt.Sprintf("%v at %s", theirs.self, who)
		}
		p.refuse(fmt.Errorf("tcp: %v: refused %s: %w", p.self, who, err))
		return
	}
	p.events.Accepted(l)
}
