package sim

import (
	"fmt"
	"math/rand/v2"
	"time"

	"gomx/endpoint"
	"gomx/transport/mem"
)

// Plan is what one history is made of.
type Plan struct {
	Seed      uint64
	Medium    mem.SimMedium
	Endpoints int
	Messages  int // sends, of all endpoints together

	Network mem.SimOptions
	Engine  endpoint.Config // address, session and filter aside

	Weights   [classes]int  // of the size classes
	Think     time.Duration // between two turns of a program, on average
	Burst     int           // sends of a turn, at most
	Posted    int           // receives that a program keeps posted
	Early     int           // of a hundred receives, how many name a message yet to be sent
	Short     int           // of a hundred receives, how many may be too short
	Multi     int           // of a hundred receives that fit many messages, how many take many
	Sync      int           // of a hundred sends, how many are synchronous
	Acked     int           // of a hundred others, how many want to be acknowledged
	Triggered int           // of a hundred sends, how many wait for steps of the program
	Counted   int           // of a hundred others, how many a counter counts, so that they have no handle
	Access    int           // of a hundred times, how often a put or get is started and no send
	Pending   int           // sends that a program has under way, at most
	Queued    int           // of a hundred requests, how many complete into a queue of their own
	Handler   bool          // programs have a handler of unexpected messages
	Drops     int           // of a thousand messages that it is shown, how many it drops
	HandlerAt int           // after which turn of a program it is registered; 0: at once

	Passive   int           // programs that decide who connects to them
	Rejects   int           // of a hundred who connect to them, how many they reject
	Directed  bool          // half of the receives for one sender are directed ones
	Absent    int           // programs that receive nothing
	AbsentFor time.Duration // for so long
	LastFirst bool          // and in the end want the last message of a peer before any other

	Slow       int           // endpoints that look at the network only now and then
	SlowPoll   time.Duration // how often
	CutEvery   time.Duration // a link is cut; 0: never
	SplitEvery time.Duration // a partition begins; 0: never
	SplitFor   time.Duration // and lasts
	Restarts   int           // endpoints that end and are opened anew
	Partings   int           // disconnects
	Timeouts   int           // of a thousand sends, how many get a short timeout

	// Trace is told of everything that happens, if set.
	Trace func(line string)
}

// PlanOf returns the plan of a seed. With endpoints 0 the seed decides their number.
func PlanOf(seed uint64, endpoints, messages int) Plan {
	r := rand.New(rand.NewPCG(seed, 0x706c616e))
	p := Plan{Seed: seed, Endpoints: endpoints, Medium: mem.SimMedium(r.IntN(3))}
	if p.Endpoints == 0 {
		p.Endpoints = 2 + min(r.IntN(15), r.IntN(15))
	}
	p.Messages = messages/2 + r.IntN(messages)
	p.Weights = [...][classes]int{{100, 0, 0, 0}, {80, 18, 2, 0}, {70, 25, 4, 1}, {96, 3, 1, 0}}[r.IntN(4)]
	p.Think = pick(r, 20*time.Microsecond, 100*time.Microsecond, 500*time.Microsecond, 3*time.Millisecond)
	p.Burst = pick(r, 1, 4, 16, 64)
	p.Posted = pick(r, 0, 2, 16, 100)
	p.Early = pick(r, 0, 5, 50)
	p.Short = pick(r, 0, 0, 10)
	p.Sync = pick(r, 0, 10, 50)
	p.Pending = pick(r, 4, 32, 200)
	p.network(r)
	p.engine(r)
	p.faults(r)
	p.pulls(rand.New(rand.NewPCG(seed, 0x70756c6c)))
	if p.Endpoints <= mostWithWindows {
		p.Access = pick(rand.New(rand.NewPCG(seed, 0x77696e)), 0, 0, 10, 50)
	}
	p.Acked = pick(rand.New(rand.NewPCG(seed, 0x61636b)), 0, 10, 100)
	p.Triggered = pick(rand.New(rand.NewPCG(seed, 0x74726967)), 0, 0, 10, 60)
	p.Counted = pick(rand.New(rand.NewPCG(seed, 0x636f756e)), 0, 0, 10, 60)
	p.Directed = seed%3 == 1
	p.Multi = pick(rand.New(rand.NewPCG(seed, 0x6d756c74)), 0, 0, 20, 100)
	p.admission(rand.New(rand.NewPCG(seed, 0x61646d69)))
	p.programs(rand.New(rand.NewPCG(seed, 0x70726f67)))
	p.smallest()
	return p
}

// smallest has some endpoints take as little as can be set, and register their handlers when messages are on their way.
func (p *Plan) smallest() {
	if p.Handler && p.Seed%5 == 2 {
		p.HandlerAt = 20
	}
	if p.Seed%7 == 3 && !p.LastFirst {
		p.Engine.UnexpectedBytes, p.Engine.UnexpectedHeaders = 1, 1
	}
}

// mostWithWindows bounds the memory of all windows.
const mostWithWindows = 20

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func (p *Plan) network(r *rand.Rand) {
	o := &p.Network
	o.Seed, o.Medium = p.Seed, p.Medium
	o.Latency = pick(r,
		mem.Fixed(5*time.Microsecond),
		mem.Uniform(2*time.Microsecond, 40*time.Microsecond),
		mem.Exponential(20*time.Microsecond, 100*time.Microsecond),
		mem.HeavyTail(10*time.Microsecond, 20*time.Millisecond),
		mem.Exponential(500*time.Microsecond, 2*time.Millisecond))
	o.Greeting = pick(r, mem.Fixed(0), mem.Exponential(0, 100*time.Microsecond), mem.Exponential(0, 5*time.Millisecond))
	o.Notice = pick(r, mem.Fixed(0), mem.Exponential(0, time.Millisecond), mem.HeavyTail(0, 200*time.Millisecond),
		mem.Exponential(0, 50*time.Millisecond))
	o.MaxFrame = pick(r, 1400, 2048, 8900, 64<<10)
	o.Eager = o.MaxFrame
	o.Bandwidth = pick(r, 0, 0, 100, 1000)
	o.Capacity = pick(r, 0, 3, 64, 1000)
	switch p.Medium {
	case mem.Datagrams:
		o.Loss = pick(r, 0, 0.001, 0.02, 0.2)
		o.Duplicate = pick(r, 0, 0.001, 0.05)
	case mem.Healing:
		o.Retains = r.IntN(2) == 0
		o.PullFrame = pick(r, 0, 32<<10)
	}
}

// programs decides what the programs do beside sending and receiving.
func (p *Plan) programs(r *rand.Rand) {
	p.Queued = pick(r, 0, 10, 100)
	if p.Handler = r.IntN(3) == 0; p.Handler {
		p.Drops = pick(r, 0, 10, 300)
	}
	if r.IntN(4) == 0 {
		p.Absent, p.AbsentFor = 1+r.IntN(p.Endpoints), pick(r, time.Millisecond, 100*time.Millisecond, time.Second)
		if p.LastFirst = r.IntN(2) == 0; p.LastFirst {
			// No message may be dropped or taken by another receive, and no session end.
			p.Triggered = 0 // they may be taken back
			p.Handler, p.Posted, p.Restarts, p.Partings, p.Timeouts = false, 0, 0, 0, 0
			p.AbsentFor, p.Pending = longest, mostMessages // until all is sent, which nothing else ends
			p.Engine.UnexpectedBytes = pick(r, 0, 5_000, 20_000)
			p.Engine.RequestTimeout = 300 * 1000 // one of hundreds of pulls may stand for a minute on a narrow link that loses every fifth frame
			p.Engine.UnexpectedHeaders = 0       // enough for all of them, or they wait for one another
		}
	}
}

// admission decides whether programs decide who connects to them.
func (p *Plan) admission(r *rand.Rand) {
	if r.IntN(3) != 0 {
		return
	}
	p.Passive, p.Rejects = 1+r.IntN(p.Endpoints), pick(r, 0, 10, 60)
	p.Engine.Backlog = pick(r, 0, 1, 3)
}

// pulls decides whether links pull directly, and whether they do so all the time.
func (p *Plan) pulls(r *rand.Rand) {
	o := &p.Network
	if p.Medium == mem.Datagrams || r.IntN(2) == 0 {
		return
	}
	o.Pulls, o.PullFails = true, pick(r, 0, 0, 0.1, 0.5)
	if p.Weights[2]+p.Weights[3] == 0 {
		p.Weights = [...]int{70, 20, 8, 2}
	}
	if p.Medium == mem.Healing && r.IntN(2) == 0 {
		o.Fallback, o.FallbackFrame = pick(r, 0.2, 0.5, 0.9), pick(r, 1400, 8<<10, 64<<10)
	}
}

func (p *Plan) engine(r *rand.Rand) {
	c := &p.Engine
	c.EagerLimit = pick(r, -1, -1, 0, 4000)
	c.CopyLimit = pick(r, -1, -1, 0, 2000)
	c.UnexpectedBytes, c.UnexpectedHeaders = pick(r, 0, 20_000, 200_000), pick(r, 0, 70, 1000)
	c.RequestTimeout = 60 * 1000
}

func (p *Plan) faults(r *rand.Rand) {
	if r.IntN(3) == 0 {
		p.Slow = 1 + r.IntN(p.Endpoints)
		p.SlowPoll = pick(r, time.Millisecond, 10*time.Millisecond, 50*time.Millisecond)
	}
	long := max(time.Millisecond, time.Duration(p.Messages/p.Endpoints/p.Burst)*p.Think)
	if p.Medium == mem.Healing && r.IntN(4) != 0 {
		p.CutEvery = max(200*time.Microsecond, long/time.Duration(1+r.IntN(50)))
	}
	if r.IntN(4) == 0 {
		p.SplitEvery = long / time.Duration(1+r.IntN(4))
		p.SplitFor = pick(r, time.Millisecond, 20*time.Millisecond, 500*time.Millisecond)
	}
	if r.IntN(2) == 0 {
		return // what follows ends sessions
	}
	if p.Slow == 0 && p.SplitEvery == 0 && p.Network.Loss < 0.1 {
		// Otherwise a session may be silent for that long without anything being wrong.
		p.Engine.RequestTimeout = endpoint.Tick(pick(r, 3, 10) * 1000)
	}
	p.Restarts = r.IntN(4)
	p.Partings = pick(r, 0, 1, 10)
	p.Timeouts = pick(r, 0, 0, 1, 20)
}

// String names what the seed has decided, in one line.
func (p *Plan) String() string {
	s := fmt.Sprintf("seed %d: %d endpoints, %d messages over %v", p.Seed, p.Endpoints, p.Messages, p.Medium)
	if o := &p.Network; o.Loss+o.Duplicate > 0 {
		s += fmt.Sprintf(", loss %g, doubles %g", o.Loss, o.Duplicate)
	}
	if o := &p.Network; o.Pulls {
		s += fmt.Sprintf(", pulls that fail with %g", o.PullFails)
		if o.Fallback > 0 {
			s += fmt.Sprintf(", %g of the links without and with frames of %d", o.Fallback, o.FallbackFrame)
		}
	}
	if p.Network.Capacity > 0 {
		s += fmt.Sprintf(", %d frames a link", p.Network.Capacity)
	}
	for _, f := range []struct {
		what string
		n    int
	}{{"slow", p.Slow}, {"absent", p.Absent}, {"passive", p.Passive}, {"rejects of 100", p.Rejects}, {"restarts", p.Restarts}, {"disconnects", p.Partings}, {"timeouts of 1000", p.Timeouts}} {
		if f.n > 0 {
			s += fmt.Sprintf(", %d %s", f.n, f.what)
		}
	}
	if p.LastFirst {
		s += ", who want the last message first"
	}
	if p.Handler {
		s += fmt.Sprintf(", handlers that drop %d of 1000", p.Drops)
	}
	if p.HandlerAt > 0 {
		s += ", registered late"
	}
	if p.Engine.UnexpectedBytes == 1 {
		s += ", smallest stores"
	}
	if p.CutEvery > 0 {
		s += fmt.Sprintf(", a cut every %v", p.CutEvery)
	}
	if p.SplitEvery > 0 {
		s += fmt.Sprintf(", a partition of %v every %v", p.SplitFor, p.SplitEvery)
	}
	return s
}
