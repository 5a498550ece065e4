package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"gomx/transport/mem"
)

// World is the history of one plan. It is for one goroutine.
type World struct {
	plan  Plan
	net   *mem.Sim
	rng   *rand.Rand // of what goes wrong
	nodes []*node
	lives [][][]flow // by endpoint and life
	bad   []bool     // pairs whose sessions may have ended

	buffers bufferPool
	freeOps []*op

	plant    plant
	faulty   bool // connects may fail: links are cut, or addresses out of reach
	draining bool
	report   Report
	err      error
}

// plant are faults of the checks' own making, for tests that want them found.
type plant struct {
	completeTwice bool
	keepReceives  bool // receives stay posted at the end
}

// Report is what a history came to.
type Report struct {
	Messages  int // sent
	Delivered int // received with their bytes
	Bytes     int // received
	Failed    int // requests that ended with their session
	Completed int // requests
	Cancelled int
	Acked     int // sends that were acknowledged
	Triggered int // sends
	Counted   int // sends without a handle
	TakenBack int // of those, cancelled before they began
	Accesses  int // puts and gets
	Atomics   int
	Connects  int
	Admitted  int // connection requests that programs accepted
	Rejected  int // or rejected
	Handled   int // messages that handlers were shown
	Dropped   int // and wanted none of
	Restarts  int
	Partings  int
	Splits    int
	Time      time.Duration // virtual
	Network   mem.SimHistory
}

// Run plays a plan to its end. The error is the first violation, with the plan and
// the state of the endpoint that it was found at.
func Run(p Plan) (Report, error) {
	w, err := newWorld(p)
	if err != nil {
		return Report{}, err
	}
	return w.run()
}

func newWorld(p Plan) (*World, error) {
	if p.Endpoints < 1 || p.Endpoints > mostEndpoints || p.Messages/p.Endpoints > mostMessages/8 {
		return nil, fmt.Errorf("sim: %d endpoints with %d messages are out of range", p.Endpoints, p.Messages)
	}
	if p.Trace != nil {
		p.Network.Observe = func(e *mem.SimEvent) { p.Trace(describe(e)) }
	}
	w := &World{plan: p, net: mem.NewSim(p.Network), rng: rand.New(rand.NewPCG(p.Seed, 0x6661756c74))}
	w.lives = make([][][]flow, p.Endpoints)
	w.bad = make([]bool, p.Endpoints*p.Endpoints)
	for i := range p.Endpoints {
		n := &node{w: w, index: i, life: -1}
		w.nodes = append(w.nodes, n)
		if err := n.open(rightFilter); err != nil {
			return nil, err
		}
	}
	for i, n := range w.nodes {
		n.begin((p.Messages + i) / p.Endpoints)
		if i < p.Slow {
			n.port.SetPoll(p.SlowPoll)
		}
	}
	return w, nil
}

func (w *World) run() (Report, error) {
	w.play()
	if w.err == nil {
		w.drain()
	}
	if w.err == nil {
		w.check()
	}
	w.report.Time, w.report.Network = w.net.Now(), w.net.History()
	return w.report, w.err
}

// play lets things happen until all messages are sent.
func (w *World) play() {
	f := w.newFaults()
	for w.err == nil && w.sending() {
		if w.net.Now() > longest {
			w.fail(w.nodes[0], "the messages are not sent after %v", longest)
		}
		f.next(w.net.Now())
		for w.err == nil && w.net.Now() < f.at && w.net.Step() {
		}
		f.happen()
	}
	f.end()
}

// longest is how long the sending may take.
const longest = time.Hour

func (w *World) sending() bool {
	for _, n := range w.nodes {
		if n.left > 0 {
			return true
		}
	}
	return false
}

// fail notes a violation. The first one counts.
func (w *World) fail(n *node, format string, args ...any) {
	if w.err != nil {
		return
	}
	state := "closed\n"
	if n.engine != nil {
		state = n.engine.DumpState()
	}
	if len(state) > 4000 {
		state = state[:4000] + "...\n"
	}
	w.err = fmt.Errorf("%v\nat %v endpoint %d: %s\n%s", &w.plan, w.net.Now(), n.index, fmt.Sprintf(format, args...), state)
}

// newOp returns a request that is about to be made.
func (w *World) newOp(n *node, kind opKind) *op {
	var o *op
	if last := len(w.freeOps) - 1; last >= 0 {
		o = w.freeOps[last]
		w.freeOps = w.freeOps[:last]
	} else {
		o = new(op)
	}
	*o = op{kind: kind, live: true, place: len(n.ops)}
	n.ops = append(n.ops, o)
	return o
}

func (w *World) newFlows(index, life int) []flow {
	f := make([]flow, len(w.nodes))
	w.lives[index] = append(w.lives[index], f)
	return f
}

// flow returns what a life has sent to an endpoint, or nil if there was no such life.
func (w *World) flow(from, life, to int) *flow {
	if life >= len(w.lives[from]) {
		return nil
	}
	return &w.lives[from][life][to]
}

// spoil notes that something happens which may end the session of two endpoints.
func (w *World) spoil(a, b int) {
	w.bad[a*len(w.nodes)+b], w.bad[b*len(w.nodes)+a] = true, true
}

func (w *World) spoiled(a, b int) bool { return w.bad[a*len(w.nodes)+b] }

// mayFail reports whether a connect between two endpoints may fail.
func (w *World) mayFail(a, b int) bool { return w.faulty || w.spoiled(a, b) }

// describe prints an event of the network.
func describe(e *mem.SimEvent) string {
	s := fmt.Sprintf("%12v %d>%d %s", e.At, int(e.From.NIC)-10, int(e.To.NIC)-10, e.What)
	if h := e.Header; h != nil {
		s += fmt.Sprintf(" %v seq %#x session %#x len %d flags %#x", h.Kind, h.Seq, h.Session, h.Length, h.Flags)
		s += fmt.Sprintf(" match %#x id %#x total %d offset %d ack %#x", h.Match, h.ID, h.Total, h.Offset, h.Ack)
	}
	return s
}
