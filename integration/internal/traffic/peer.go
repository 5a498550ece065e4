package traffic

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"gomx/integration/internal/proc"
	"gomx/mx"
)

// peer is the child's side.
type peer struct {
	*proc.Child
	ep     *mx.Endpoint
	others []mx.EndpointAddr
	posted []mx.Request
	crowd  []*mx.Endpoint
	number *mx.Window
}

// Role does what its parent says until that is gone.
func Role(c *proc.Child) {
	if err := mx.Init(); err != nil {
		c.Fail(err)
	}
	p := &peer{Child: c}
	for {
		p.obey(strings.Fields(c.Hear()))
	}
}

func (p *peer) obey(order []string) {
	c := proc.Child{Args: order[1:]} // for its reading of arguments
	switch order[0] {
	case "open":
		p.open(order[1], c.Number(1))
	case "close":
		p.check(p.ep.Close())
		p.Say("closed")
	case "connect":
		p.connect(order[1], c.Number(1), c.Number(2), order[4])
	case "stream":
		p.check(p.stream(p.others[c.Number(0)], int(c.Number(1)), Sizes(order[3])))
		p.Say("streamed")
	case "sink":
		p.check(p.sink(int(c.Number(0)), int(c.Number(1)), Sizes(order[3])))
		p.Say("sunk")
	case "duplex":
		p.duplex(p.others[c.Number(0)], int(c.Number(1)), Sizes(order[3]))
	case "post":
		p.post(p.others[c.Number(0)])
	case "limit":
		p.limit(order[1])
	case "collect":
		p.collect(order[1])
	case "crowd":
		p.gather(c.Number(0), c.Number(1))
	case "join":
		p.join(order[1], c.Number(1))
	case "open-number":
		p.openNumber()
	case "add":
		p.check(p.add(p.others[c.Number(0)], order[2], int(c.Number(2))))
		p.Say("added")
	case "sum":
		p.awaitSum(int64(c.Number(0)))
	case "drain":
		p.drain()
	case "storm":
		p.storm(p.others[c.Number(0)], Sizes(order[2]))
	case "memory":
		debug.FreeOSMemory()
		p.Say("resident %d", p.status("VmRSS"))
	case "pinned":
		p.Say("pinned %d", p.status("VmPin"))
	case "counter":
		p.Say("counter %d", p.counter(strings.Join(order[1:], " ")))
	case "way":
		p.way(p.others[c.Number(0)])
	default:
		p.Fail(fmt.Errorf("no order %q", order[0]))
	}
}

// check ends the process if something went wrong, and says what is known about
// the peers.
func (p *peer) check(err error) {
	if err == nil {
		return
	}
	if p.ep != nil {
		err = fmt.Errorf("%w; peers: %+v; diagnostics: %v; counters: %v", err, p.ep.Peers(), p.ep.Diagnostics(), p.counts())
	}
	p.Fail(err)
}

// counts returns the counters that have counted.
func (p *peer) counts() (some []mx.Counter) {
	for _, c := range p.ep.Counters() {
		if c.Value > 0 {
			some = append(some, c)
		}
	}
	return some
}

func (p *peer) open(id string, filter uint32) {
	number := mx.AnyEndpoint
	if !strings.HasPrefix(id, "-") {
		_, err := fmt.Sscan(id, &number)
		p.check(err)
	}
	ep, err := mx.OpenEndpoint(0, number, filter)
	if err != nil {
		p.Say("no endpoint: %v", err)
		return
	}
	p.ep = ep
	p.Say("open %d", ep.ID())
}

func (p *peer) connect(host string, id, filter uint32, patience string) {
	limit, err := time.ParseDuration(patience)
	p.check(err)
	nic, err := mx.HostnameToNICID(host)
	var to mx.EndpointAddr
	if err == nil {
		began := time.Now()
		to, err = p.ep.Connect(nic, id, filter, limit)
		for errors.Is(err, mx.ErrTimeout) && time.Since(began) < limit { // a short request timeout has passed, on a busy machine
			to, err = p.ep.Connect(nic, id, filter, max(0, limit-time.Since(began)))
		}
	}
	if err != nil {
		p.Say("no connection: %v", err)
		return
	}
	p.others = append(p.others, to)
	p.Say("connected %d", len(p.others)-1)
}

// nobodys is match information that no receive takes.
const nobodys = 1 << 63

func (p *peer) post(to mx.EndpointAddr) {
	large, err := p.ep.Isend(make([]byte, 1<<20), to, nobodys, nil)
	p.check(err)
	synchronous, err := p.ep.Issend(make([]byte, 8), to, nobodys, nil)
	p.check(err)
	p.posted = append(p.posted, large, synchronous)
	p.Say("posted")
}

func (p *peer) limit(timeout string) {
	limit, err := time.ParseDuration(timeout)
	p.check(err)
	for _, r := range p.posted {
		p.check(p.ep.SetRequestTimeout(r, limit))
	}
	p.Say("limited")
}

func (p *peer) collect(patience string) {
	limit, err := time.ParseDuration(patience)
	p.check(err)
	began := time.Now()
	var codes []string
	for _, r := range p.posted {
		st, done, err := p.ep.Wait(r, limit-time.Since(began))
		p.check(err)
		if !done {
			p.Fail(fmt.Errorf("a request is still pending after %v", limit))
		}
		codes = append(codes, st.Code.String())
	}
	p.posted = nil
	p.Say("ended after %v %s", time.Since(began), strings.Join(codes, ", "))
}

func (p *peer) gather(first, count uint32) {
	for i := range count {
		ep, err := mx.OpenEndpoint(0, first+i, Filter)
		p.check(err)
		p.crowd = append(p.crowd, ep)
	}
	p.Say("crowded")
}

func (p *peer) join(host string, id uint32) {
	nic, err := mx.HostnameToNICID(host)
	p.check(err)
	asked := make([]mx.Request, len(p.crowd))
	for i, ep := range p.crowd {
		asked[i], err = ep.Iconnect(nic, id, Filter, 0, nil)
		p.check(err)
	}
	for i, ep := range p.crowd {
		st, done, err := ep.Wait(asked[i], patience)
		p.check(err)
		if !done {
			p.Fail(fmt.Errorf("connect %d of %d is still pending", i, len(p.crowd)))
		}
		if err := st.Err(); err != nil {
			p.Fail(fmt.Errorf("connect %d of %d: %w; %+v", i, len(p.crowd), err, ep.Peers()))
		}
	}
	p.Say("joined")
}

// status returns a number of bytes that the system has about this process.
func (p *peer) status(name string) int {
	status, err := os.ReadFile("/proc/self/status")
	p.check(err)
	_, line, _ := strings.Cut(string(status), "\n"+name+":")
	var kib int
	_, err = fmt.Sscan(line, &kib)
	p.check(err)
	return kib << 10
}

func (p *peer) counter(label string) uint64 {
	for _, c := range p.ep.Counters() {
		if c.Label == label {
			return c.Value
		}
	}
	p.Fail(fmt.Errorf("no counter %q", label))
	return 0
}

func (p *peer) way(to mx.EndpointAddr) {
	nic, id, err := mx.DecomposeEndpointAddr(to)
	p.check(err)
	for _, info := range p.ep.Peers() {
		if info.NICID == nic && info.EndpointID == id {
			p.Say("way %s; instead: %s; failure: %s", info.Transport, info.Instead, info.Failure)
			return
		}
	}
	p.Fail(fmt.Errorf("no such peer: %v", to))
}
