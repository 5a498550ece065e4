package live

import (
	"cmp"
	"fmt"
	"time"

	"gomx/mx"
	"gomx/mx/internal/live"
)

// Watcher reads processes again and again, for tools that look every second: an overview instead of all there is, unless that is asked
// for, and without looking for new processes each time. Its methods are for one goroutine at a time.
type Watcher struct {
	PIDs  []int         // none: all of this user, or for root of all users
	Bound time.Duration // how long a process may take to answer; 0: Bound of the package
	Whole bool          // all there is, as Read of the package returns it, without what packages on top wait for

	listed time.Time
	procs  []*watched
}

// watched is a process that a Watcher knows.
type watched struct {
	finding
	socket live.Socket
	last   *mx.LiveReading // nil: it has never answered
	rest   time.Time       // it is not asked before
}

// How often a Watcher looks for new processes, and how long it leaves one alone that has not answered.
const (
	lookEvery = 3 * time.Second
	restFor   = 5 * time.Second
)

// Silent is a process that does not answer, and what it has said when it last did.
type Silent struct {
	PID  int
	Last *mx.LiveReading // nil: it never has
	Err  error
}

// Read reads the processes, the lowest number first. With waits the readings have what packages on top of mx wait for, which
// wakes up calls that block. Processes that have ended since are in neither list. The error says why it is not known which there
// are, that one of the PIDs can't be read the first time, or later that none can.
func (w *Watcher) Read(waits bool) (readings []*mx.LiveReading, silent []Silent, err error) {
	if err := w.look(); err != nil {
		return nil, nil, err
	}
	question := "overview"
	switch {
	case w.Whole:
		question = "snapshot"
	case waits:
		question = "waits"
	}
	var asked []*watched
	var sockets []live.Socket
	for _, p := range w.procs {
		if !time.Now().Before(p.rest) {
			asked, sockets = append(asked, p), append(sockets, p.socket)
		}
	}
	for i, f := range askAll(sockets, question, cmp.Or(w.Bound, Bound)) {
		if p := asked[i]; len(w.PIDs) > 0 && f.pid != p.socket.PID {
			f = finding{pid: p.socket.PID, err: ErrTaken}
		}
		asked[i].finding = f
	}
	for _, p := range w.procs {
		switch {
		case p.reading != nil:
			p.last = p.reading
			readings = append(readings, p.reading)
			p.reading = nil
		case gone(p.err):
			w.listed = time.Time{} // or it has another socket by now
			err = fmt.Errorf("process %d: %w", p.pid, p.err)
		default:
			if time.Now().After(p.rest) {
				p.rest = time.Now().Add(restFor)
			}
			silent = append(silent, Silent{p.pid, p.last, fmt.Errorf("process %d: %w", p.pid, p.err)})
		}
	}
	if len(w.PIDs) == 0 || len(readings)+len(silent) > 0 {
		err = nil
	}
	return readings, silent, err
}

// look finds the processes, from time to time.
func (w *Watcher) look() error {
	if time.Since(w.listed) < lookEvery {
		return nil
	}
	sockets, err := live.Sockets(w.PIDs)
	if err != nil && (w.procs == nil || len(sockets) == 0) {
		return err // later on it is known that they were there, and some may go on
	}
	known := map[live.Socket]*watched{}
	for _, p := range w.procs {
		known[p.socket] = p
	}
	w.procs = w.procs[:0:0]
	for _, s := range sockets {
		p := known[s]
		if p == nil {
			p = &watched{socket: s}
		}
		w.procs = append(w.procs, p)
	}
	w.listed = time.Now()
	return nil
}
