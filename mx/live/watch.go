package live

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"gomx/mx"
	"gomx/mx/internal/live"
)

// Watcher reads processes again and again, for tools that look every second: an overview instead of all there is, and without looking
// for new processes each time. Its methods are for one goroutine at a time.
type Watcher struct {
	PIDs  []int         // none: all of this user, or for root of all users
	Bound time.Duration // how long a process may take to answer; 0: Bound of the package

	listed time.Time
	procs  []*watched
}

// watched is a process that a Watcher knows.
type watched struct {
	socket live.Socket
	last   *mx.LiveReading // nil: it has never answered
	err    error           // why the last reading failed
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
	if waits {
		question = "waits"
	}
	var all sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	got := make([]*mx.LiveReading, len(w.procs))
	for i, p := range w.procs {
		if time.Now().Before(p.rest) {
			continue
		}
		slots <- struct{}{}
		all.Go(func() {
			got[i], p.err = p.read(question, cmp.Or(w.Bound, Bound))
			<-slots
		})
	}
	all.Wait()
	for i, p := range w.procs {
		switch {
		case got[i] != nil:
			p.last = got[i]
			readings = append(readings, got[i])
		case gone(p.err):
			w.listed = time.Time{} // or it has another socket by now
			err = fmt.Errorf("process %d: %w", p.socket.PID, p.err)
		default:
			if time.Now().After(p.rest) {
				p.rest = time.Now().Add(restFor)
			}
			silent = append(silent, Silent{p.socket.PID, p.last, fmt.Errorf("process %d: %w", p.socket.PID, p.err)})
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
	slices.SortStableFunc(w.procs, func(a, b *watched) int { return cmp.Compare(a.socket.PID, b.socket.PID) })
	w.listed = time.Now()
	return nil
}

func (p *watched) read(question string, bound time.Duration) (*mx.LiveReading, error) {
	text, err := p.socket.Ask(question, bound)
	if err != nil {
		return nil, err
	}
	r := &mx.LiveReading{}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("its answer makes no sense: %w", err)
	}
	return r, nil
}
