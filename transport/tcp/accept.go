//go:build linux

package tcp

import (
	"fmt"
	"net"
	"time"

	"gomx/transport"
)

// acceptAgain is the pause after a failure, and while all guests are busy.
const acceptAgain = 10 * time.Millisecond

func (p *port) accept(listener *net.TCPListener, y *lobby) {
	defer p.accepting.Done()
	for {
		c, err := listener.AcceptTCP()
		if err != nil {
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
		g := y.enter(p.life, c)
		if g == nil {
			_ = c.Close()
			return
		}
		p.accepting.Add(1)
		go func() {
			defer p.accepting.Done()
			p.welcome(g)
		}()
	}
}

// welcome answers a peer that has dialled us.
func (p *port) welcome(g *guest) {
	from := g.conn.RemoteAddr()
	var theirs hello
	l, err := p.meet(p.life, g.conn, g.came.Add(p.opt.ConnectTimeout), g, func(m *meeting) (h hello, err error) {
		theirs, err = m.receive()
		return theirs, err
	})
	if crowded := g.leave(); crowded != nil && err != nil {
		err = crowded
	}
	if err != nil {
		who := from.String()
		if theirs.self != (transport.Address{}) {
			who = fmt.Sprintf("%v at %s", theirs.self, who)
		}
		p.refuse(fmt.Errorf("tcp: %v: refused %s: %w", p.self, who, err))
		return
	}
	p.events.Accepted(l)
}
