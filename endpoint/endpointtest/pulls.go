package endpointtest

import (
	"encoding/binary"

	"gomx/transport/wire"
)

// PullMode says how a link's Pull answers.
type PullMode uint8

// The modes.
const (
	PullNow   PullMode = iota // the bytes are there at once
	PullLater                 // World.FinishPulls moves them
	PullFails                 // blocks must take over
	PullTears                 // started, and failed at the end
)

// export is memory that the other side may pull.
type export struct {
	v     wire.Vec
	live  bool
	reign uint64 // counts those who had the place
}

// startedPull is a pull under way.
type startedPull struct {
	id   uint64
	v    wire.Vec
	desc uint64
	n    int
}

// A memory descriptor names the end that gave it, the place there, and who had the
// place.
//
//	 63    40 39   16 15    0
//	+--------+-------+-------+
//	| number | reign | place |
//	+--------+-------+-------+
const (
	descSize   = 8
	reignShift = 16
	endShift   = 40
)

// Export implements wire.Link.
func (e *End) Export(dst []byte, v *wire.Vec) (desc []byte, token uint64) {
	e.live++
	i := 0
	for i < len(e.exported) && e.exported[i].live {
		i++
	}
	if i == len(e.exported) {
		e.exported = append(e.exported, export{})
	}
	x := &e.exported[i]
	x.v, x.live = *v, true
	x.reign++
	return binary.LittleEndian.AppendUint64(dst, e.number<<endShift|x.reign<<reignShift|uint64(i)), uint64(i)
}

// Unexport implements wire.Link.
func (e *End) Unexport(token uint64, _ bool) {
	x := &e.exported[token]
	if !x.live {
		panic("endpointtest: Unexport of what is not exported")
	}
	x.v, x.live = wire.Vec{}, false
	e.live--
}

// exportOf returns the memory of this end that a memory descriptor names, or nil if
// nothing is exported under it any more.
func (e *End) exportOf(desc uint64) *export {
	place, reign := desc&(1<<reignShift-1), desc>>reignShift&(1<<(endShift-reignShift)-1)
	if desc>>endShift != e.number || place >= uint64(len(e.exported)) {
		return nil
	}
	if x := &e.exported[place]; x.live && x.reign == reign {
		return x
	}
	return nil
}

// Pull implements wire.Link.
func (e *End) Pull(desc []byte, v *wire.Vec, n int, id uint64) wire.PullResult {
	if len(desc) != descSize {
		return wire.PullFailed
	}
	d := binary.LittleEndian.Uint64(desc)
	if whose := d >> endShift; whose != e.far.number && whose > 0 && whose <= e.node.world.numbers {
		e.node.world.strays++ // a real medium might read what lies there now
	}
	from := e.far.exportOf(d)
	switch {
	case e.Pulls == PullFails || from == nil && !e.link.Dead:
		return wire.PullFailed
	case e.Pulls == PullNow && !e.link.Dead:
		wire.Copy(v, &from.v, n)
		return wire.PullDone
	}
	e.started = append(e.started, startedPull{id, *v, d, n})
	return wire.PullStarted
}

// finishPulls ends the pulls under way. Over a dead link they never end.
func (e *End) finishPulls() (finished int) {
	for len(e.started) > 0 && !e.link.Dead {
		p := e.started[0]
		e.started = e.started[1:]
		from := e.far.exportOf(p.desc)
		ok := e.Pulls != PullTears && from != nil
		if ok {
			wire.Copy(&p.v, &from.v, p.n)
		}
		finished++
		e.node.Engine.PullFinished(p.id, ok)
	}
	return finished
}

// release gives back what a link holds that its node has let go of.
func (e *End) release() {
	e.In.Queue, e.started = nil, nil
	for i := range e.exported {
		e.exported[i].v, e.exported[i].live = wire.Vec{}, false
	}
	e.live = 0
}

// FinishPulls ends the pulls that links have answered with "started".
func (w *World) FinishPulls() {
	for _, l := range w.Links {
		for i := range l.ends {
			l.ends[i].finishPulls()
		}
	}
}
