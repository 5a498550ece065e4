package endpoint

import "gomx/match"

// Counters count what happened since the engine was made. They are always on.
type Counters struct {
	Queued          uint64 // sends that had to wait for a link
	Handled         uint64 // messages shown to the unexpected handler
	CreditFrames    uint64 // credit frames that were sent
	WithoutBytes    uint64 // small sends that became a rendezvous because credit was missing
	Waited          uint64 // sends that waited for credit
	WindowBroken    uint64 // peers given up because they exceeded their credit
	Dropped         uint64 // unexpected messages dropped with their peer's session
	Stale           uint64 // frames about requests or sessions that have ended
	Malformed       uint64 // frames whose contents make no sense
	Corrupt         uint64 // links given up because of malformed frames
	BadSession      uint64 // frames of a session that is not the current one
	BadFilter       uint64 // connects with a wrong filter
	Claims          uint64 // connects under the address of a peer whose link lives
	FalseClaims     uint64 // of those, refused because the peer has given a sign of life
	BadProofs       uint64 // resumes without the token of the session
	Requested       uint64 // connection requests that waited for the owner
	Overfull        uint64 // connects refused because too many did
	Unanswered      uint64 // connection requests that were not answered in time
	Strangers       uint64 // strangers' links that made room for others
	PiecesMade      uint64 // links given up because messages in pieces took too much memory
	Duplicates      uint64 // frames that came twice
	Early           uint64 // frames that came before their turn
	TooEarly        uint64 // of those, too far ahead to be held
	Retransmitted   uint64 // frames that were retransmitted
	BlocksRetried   uint64 // blocks of pipelined rendezvous that were requested again
	ConnectsRetried uint64 // connects that were retransmitted
	PullFallbacks   uint64 // gets that failed, so that the rendezvous was pipelined
	Timeouts        uint64 // requests and peers that timed out
	Breaks          uint64 // links that broke under a session
	Resumed         uint64 // sessions that went on over another link
	NoAccess        uint64 // puts, gets and atomics of peers that no window permits
	Withdrawn       uint64 // puts and gets of peers that ended with their window
}

// Medium counts the messages of one transport.
type Medium struct {
	Name                               string
	SentEager, SentRendezvous          uint64 // messages
	RecvEager, RecvRendezvous          uint64
	GetRendezvous, PipelinedRendezvous uint64 // rendezvous received
	BytesSent, BytesReceived           uint64 // payload
	Puts, Gets                         uint64 // into and from windows of peers
	PutsServed, GetsServed             uint64 // by peers, into and from our windows
	Atomics, AtomicsServed             uint64 // on windows of peers, and by peers on ours
}

// send counts a message that has left whole.
func (m *Medium) send(bytes int) {
	if match.Counting {
		m.SentEager++
		m.BytesSent += uint64(bytes)
	}
}

// receive counts an eager message, with all its bytes, whether or not a receive takes all of them.
func (m *Medium) receive(bytes int) {
	if match.Counting {
		m.RecvEager++
		m.BytesReceived += uint64(bytes)
	}
}

// Counters returns the counters so far.
func (e *Engine) Counters() Counters { return e.count }

// Media returns the counters of each transport in use.
func (e *Engine) Media() []Medium {
	e.classes.settle()
	var all []Medium
	for _, m := range e.media {
		all = append(all, *m)
	}
	return all
}

func (e *Engine) mediumNamed(name string) *Medium {
	for _, m := range e.media {
		if m.Name == name {
			return m
		}
	}
	m := &Medium{Name: name}
	e.media = append(e.media, m)
	return m
}

// Depths says how full the queues are and have been.
type Depths struct {
	Posted, PostedPeak         int
	PostedProbes, Arrivals     uint64 // index probes, and the arrivals they were made for
	Unexpected, UnexpectedPeak int
	Bytes, BytesPeak, Bound    int // of the unexpected store
	Walked, Finds              uint64
	Requests, RequestsPeak     int // in use, in any state
	Claimed                    int // messages that are claimed and not received
	Completed                  int // completions that nobody has collected: requests, and messages of multi-receives
	Pulls                      int // pipelined rendezvous that are being received
	Kept, Early                int // frames kept until acknowledged, or for their turn
	Windows                    int // open, or closed but still in use by a link
}

// Depths returns the present depths.
func (e *Engine) Depths() Depths {
	m, u := e.posted.Stats(), e.unexp.Stats()
	kept, early := e.held()
	completed := e.Completed()
	for q := range e.queues {
		completed += e.Queued(QueueID(q))
	}
	return Depths{
		Pulls: e.pulls.live(), Kept: kept, Early: early, Windows: e.windows.live(),
		Posted: m.Depth, PostedPeak: m.Peak, PostedProbes: m.Probes, Arrivals: m.Arrivals,
		Unexpected: u.Depth, UnexpectedPeak: u.Peak, Bytes: u.Bytes, BytesPeak: u.PeakBytes, Bound: u.Limit,
		Claimed: u.Claimed, Walked: u.Walked, Finds: u.Finds,
		Requests: e.reqs.live, RequestsPeak: e.reqs.peak, Completed: completed,
	}
}
