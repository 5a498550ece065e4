package endpoint

import (
	"cmp"
	"math/bits"

	"gomx/transport/wire"
)

// Pipelined rendezvous: the receiver requests a few blocks at a time, the sender
// answers each request with frames, and a block that does not arrive in time is
// requested again. It works over any medium, including media that lose frames.
const (
	blockFrames    = 16      // most frames of a block; a bit each in block.here
	blockBytes     = 4 << 20 // a block of more has as few frames as it can, so that other messages get their turn
	blocksInFlight = 4
	pullFrame      = 8 << 10 // payload of a PullData frame, unless the medium advises another
)

type block struct {
	off, len uint32
	frames   uint8
	here     uint32 // a bit for each frame that arrived
	due      Tick   // when the block is requested again
}

// pull is the receiver's side of a pipelined rendezvous.
type pull struct {
	live     bool
	watched  Tick // when Advance comes by, or Never
	request  Handle
	peer     int32
	frame    uint32
	asked    uint32 // everything before this offset has been requested
	got      uint32 // bytes that arrived
	progress Tick   // when the last of them did, or the peer was seen to move
	mark     mark   // what had come from the peer then
	blocks   [blocksInFlight]block
}

// pullSlab holds pulls; freed ones are used again.
type pullSlab struct {
	items []*pull
	free  []int32
}

func (s *pullSlab) live() int { return len(s.items) - len(s.free) }

func (s *pullSlab) alloc() (int32, *pull) {
	n := len(s.free)
	if n == 0 {
		s.items = append(s.items, new(pull))
		s.free = append(s.free, int32(len(s.items)-1))
		n = 1
	}
	i := s.free[n-1]
	s.free = s.free[:n-1]
	*s.items[i] = pull{live: true, watched: Never}
	return i, s.items[i]
}

func (s *pullSlab) release(i int32) {
	s.items[i].live = false
	s.free = append(s.free, i)
}

func (e *Engine) pullPipelined(p *peer, slot int32, r *request) {
	if e.recorder != nil && r.receives() {
		e.recorder.request(EventPipelined, p, slot, r)
	}
	i, pl := e.pulls.alloc()
	r.pull = i
	pl.request, pl.peer, pl.progress, pl.mark = handleOf(slot, r.generation), p.index, e.clock(), p.mark()
	pl.frame = p.pullFrame()
	p.medium.PipelinedRendezvous++
	if r.kind == kindRecv {
		r.tied = p.index
	}
	e.expectAnswer(p, r)
	e.askBlocks(p, r, pl)
	e.watchPull(i, pl)
}

// pullFrame returns the payload that the peer's PullData frames shall carry.
func (p *peer) pullFrame() uint32 {
	return uint32(min(p.caps.LargestPullFrame(), cmp.Or(p.caps.PullFrame, pullFrame)))
}

// rewind forgets the incomplete blocks, and everything behind the first of them, so
// that these bytes can be requested again in frames of another size.
func (pl *pull) rewind(frame uint32) {
	for i := range pl.blocks {
		if b := &pl.blocks[i]; b.len != 0 {
			pl.asked = min(pl.asked, b.off)
			b.len = 0
		}
	}
	pl.got, pl.frame = pl.asked, frame
}

// askBlocks requests new blocks while fewer than blocksInFlight are in flight.
func (e *Engine) askBlocks(p *peer, r *request, pl *pull) {
	for i := range pl.blocks {
		b := &pl.blocks[i]
		if b.len != 0 || pl.asked >= r.xferLen {
			continue
		}
		b.off = pl.asked
		b.len = min(pl.frame*framesOfBlock(pl.frame), r.xferLen-pl.asked)
		b.frames = uint8((b.len + pl.frame - 1) / pl.frame)
		b.here = 0
		pl.asked += b.len
		e.askBlock(p, r, pl, b)
	}
}

// framesOfBlock is how many frames of a size a block has.
func framesOfBlock(frame uint32) uint32 { return min(max(blockBytes/frame, 1), blockFrames) }

// askBlock requests the missing frames of a block, from the first to the last.
func (e *Engine) askBlock(p *peer, r *request, pl *pull, b *block) {
	b.due = e.now + pullRetry
	missing := ^b.here & (1<<b.frames - 1)
	from := uint32(bits.TrailingZeros32(missing)) * pl.frame
	to := min(b.len, uint32(bits.Len32(missing))*pl.frame)
	e.control(p, wire.Header{
		Kind: wire.PullRequest, Flags: wire.HasID | wire.HasRange,
		ID: r.remote, Match: uint64(pl.request), Seq: pl.frame, Offset: b.off + from, Total: to - from,
	})
}

// pullJob is a requested block at the sender's side.
type pullJob struct {
	send     Handle
	receiver uint64
	off, end uint32
	frame    uint32
}

// covers reports whether the bytes of a pull-request are on their way already.
func (j *pullJob) covers(h *wire.Header, end uint32) bool {
	return j.send == Handle(h.ID) && j.receiver == h.Match && j.off <= h.Offset && end <= j.end
}

func (e *Engine) arrivePullRequest(p *peer, h *wire.Header) {
	slot, r := e.reqs.find(Handle(h.ID))
	if r == nil || slot == none || r.peer != p.index || r.state != stateOffered {
		e.count.Stale++
		return
	}
	end := uint64(h.Offset) + uint64(h.Total)
	if h.Flags&wire.HasRange == 0 || end > uint64(r.msgLen) || h.Seq == 0 || int64(h.Seq) > int64(p.caps.LargestPullFrame()) {
		e.count.Malformed++
		return
	}
	if p.jobs.has(func(j *pullJob) bool { return j.covers(h, uint32(end)) }) {
		return // requested again, though it is on its way
	}
	if p.jobs.len() >= blocksInFlight*e.reqs.live {
		p.jobs.keep(func(j *pullJob) bool { _, r := e.reqs.find(j.send); return r != nil })
	}
	if p.jobs.len() >= blocksInFlight*e.reqs.live {
		return // an honest peer has this much under way only if it requests blocks again, as it will for this one
	}
	p.jobs.push(pullJob{send: Handle(h.ID), receiver: h.Match, off: h.Offset, end: uint32(end), frame: h.Seq})
	if !e.flushJobs(p) {
		e.wait(p)
	}
}

// flushJobs answers block requests until done or until the link is full.
func (e *Engine) flushJobs(p *peer) bool {
	for p.jobs.len() > 0 {
		j := p.jobs.front()
		_, r := e.reqs.find(j.send)
		if r == nil || r.state != stateOffered {
			p.jobs.pop() // the send has ended meanwhile
			continue
		}
		for j.off < j.end {
			n := min(j.frame, j.end-j.off)
			h := &e.header
			*h = wire.Header{
				Kind: wire.PullData, Flags: wire.HasID | wire.HasRange,
				Length: n, ID: j.receiver, Offset: j.off, Total: r.msgLen,
			}
			if !e.post(p, h, &r.vec, int(j.off)) {
				return false
			}
			if p.caps.Retains {
				p.pushing = j.send
				r.flags |= pushed
			}
			j.off += n
		}
		p.jobs.pop()
	}
	return true
}

// Land returns the segments that the payload of a PullData frame belongs into, at
// h.Offset. nil: the payload is discarded, or Frame must get it.
func (e *Engine) Land(pi int32, h *wire.Header) *wire.Vec {
	p := e.peers[pi]
	if h.Kind != wire.PullData || !e.lands(p, h) || e.paused {
		return nil
	}
	_, r, b, bit := e.expected(p, h)
	if b == nil || b.here&bit != 0 {
		return nil
	}
	return &r.vec
}

// Landed is Frame for a payload that was written where Land said.
func (e *Engine) Landed(pi int32, h *wire.Header) {
	p := e.peers[pi]
	if h.Kind == wire.PullData && e.lands(p, h) {
		e.takePullData(p, h, nil)
	}
}

func (e *Engine) lands(p *peer, h *wire.Header) bool {
	return p.state == peerConnected && h.Session == p.local && p.rel == nil
}

// expected finds the receive and the block in flight that a PullData frame belongs
// to, and the bit of the frame in the block.
func (e *Engine) expected(p *peer, h *wire.Header) (slot int32, r *request, b *block, bit uint32) {
	slot, r = e.reqs.find(Handle(h.ID))
	if r == nil || r.state != statePulling || r.pull == none || r.peer != p.index {
		return none, nil, nil, 0
	}
	pl := e.pulls.items[r.pull]
	if b = pl.blockAt(h.Offset, h.Length); b != nil {
		bit = 1 << ((h.Offset - b.off) / pl.frame)
	}
	return slot, r, b, bit
}

// takePullData notes that a frame has arrived, and copies its payload, if there is one.
func (e *Engine) takePullData(p *peer, h *wire.Header, payload []byte) {
	p.pulled++
	slot, r, b, bit := e.expected(p, h)
	if r == nil {
		e.count.Stale++
		return
	}
	if b == nil || b.here&bit != 0 {
		e.count.Duplicates++
		return
	}
	pl := e.pulls.items[r.pull]
	b.here |= bit
	if payload != nil {
		r.vec.Scatter(int(h.Offset), payload)
	}
	pl.got += h.Length
	pl.progress, pl.mark, b.due = e.now, p.mark(), e.now+pullRetry
	if b.here == 1<<b.frames-1 {
		b.len = 0
		e.askBlocks(p, r, pl)
	}
	if pl.got == r.xferLen {
		e.endPull(r)
		e.finishRendezvous(p, slot, r)
	}
}

// blockAt returns the block in flight that the bytes at off belong to, if they
// are just one frame of it.
func (pl *pull) blockAt(off, n uint32) *block {
	for i := range pl.blocks {
		b := &pl.blocks[i]
		if b.len == 0 || off < b.off || off >= b.off+b.len {
			continue
		}
		rel := off - b.off
		if rel%pl.frame != 0 || n != min(pl.frame, b.len-rel) {
			return nil
		}
		return b
	}
	return nil
}

func (e *Engine) endPull(r *request) {
	if r.pull != none {
		e.pulls.release(r.pull)
		r.pull = none
	}
}

// mark is how many frames have come from a peer at a time: those that are numbered, and those of pulls.
type mark struct{ numbered, pulled uint32 }

func (p *peer) mark() mark { return mark{p.recvSeq, p.pulled} }

// cameSince reports whether more has come than the frame of that time, whose number is counted behind it.
func (p *peer) cameSince(m mark) bool { return p.recvSeq-m.numbered > 1 || p.pulled != m.pulled }

// advancePull requests overdue blocks again, and fails a pull that has made no progress
// for the request timeout while the peer has sent nothing else either: the blocks of
// other pulls may have to come first.
func (e *Engine) advancePull(i int32) {
	pl := e.pulls.items[i]
	slot, r := e.reqs.find(pl.request)
	p := e.peers[pl.peer]
	if e.now-pl.progress >= e.cfg.RequestTimeout {
		if p.rel != nil || !p.cameSince(pl.mark) {
			e.expire(slot, r)
			return
		}
		pl.progress, pl.mark = e.now, p.mark()
	}
	if p.rel != nil { // others lose nothing
		for k := range pl.blocks {
			if b := &pl.blocks[k]; b.len != 0 && e.now >= b.due {
				e.count.BlocksRetried++
				e.askBlock(p, r, pl, b)
			}
		}
	}
	e.watchPull(i, pl)
}

// pullDue returns when advancePull has something to do for pl.
func (e *Engine) pullDue(pl *pull) Tick {
	due := later(pl.progress, e.cfg.RequestTimeout)
	if e.peers[pl.peer].rel == nil {
		return due
	}
	for i := range pl.blocks {
		if b := &pl.blocks[i]; b.len != 0 {
			due = min(due, b.due)
		}
	}
	return due
}
