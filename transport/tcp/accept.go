//go:build linux

package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"gomx/transport"
)

// acceptAgain is the pause after a failure, and while all guests are busy.
const acceptAgain = 10 * time.Millisecond

func (p *place) accept(listener *net.TCPListener) {
	defer p.busy.Done()
	for {
		c, err := listener.AcceptTCP()
		if err != nil {
			if p.life.Err() != nil {
				return
			}
			p.refuse(nil, fmt.Errorf("accepting on %v: %w", listener.Addr(), err))
			select { // out of descriptors, most likely: some may come free
			case <-p.life.Done():
			case <-time.After(acceptAgain):
			}
			continue
		}
		g := p.lobby.enter(p.life, c)
		if g == nil {
			_ = c.Close()
			return
		}
		p.busy.Add(1)
		go func() {
			defer p.busy.Done()
			p.welcome(g)
		}()
	}
}

// visit is a guest's meeting with a place, and with the desk for his purpose once
// that is known.
type visit struct {
	meeting
	ctx  context.Context // ends with the place or with the desk
	end  context.CancelFunc
	desk *Desk
}

// welcome answers a peer that has dialled us.
func (p *place) welcome(g *guest) {
	from := g.conn.RemoteAddr()
	v := &visit{meeting: meeting{place: p, tcp: g.conn, guest: g, deadline: g.came.Add(p.opt.ConnectTimeout)}}
	v.ctx, v.end = context.WithCancel(p.life)
	defer v.end()
	err := v.run(v.ctx, p.server, v.talk)
	if crowded := g.leave(); crowded != nil && err != nil {
		err = crowded
	}
	_, unserved := errors.AsType[*notServedError](err)
	if err != nil && !unserved { // one side without RDMA is no oddity
		who := from.String()
		if v.theirs.self != (transport.Address{}) {
			who = fmt.Sprintf("%v at %s", v.theirs.self, who)
		}
		if v.theirs.purpose != Frames {
			who += fmt.Sprintf(" for %v", v.theirs.purpose)
		}
		p.refuse(v.desk, fmt.Errorf("tcp: %v: refused %s: %w", p.self, who, err))
	}
	if v.desk != nil {
		v.desk.visits.Done()
	}
}

// talk is the handshake of the side that was dialled, and what follows it.
func (v *visit) talk() error {
	p := v.place
	if err := v.hear(); err != nil {
		return err
	}
	mine := p.hello(v.theirs.self, v.theirs.purpose)
	if mine.answer = p.judge(&mine, &v.theirs); mine.answer == welcome {
		if v.desk = p.deskFor(v.theirs.purpose); v.desk == nil {
			mine.answer = notServed
		}
	}
	if v.desk != nil {
		defer context.AfterFunc(v.desk.life, v.end)()
	}
	if err := v.receive(&mine); err != nil {
		return err
	}
	v.moveOn()
	return v.exchange(v.ctx, v.desk.welcome)
}
