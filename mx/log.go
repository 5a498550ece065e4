package mx

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"gomx/endpoint/driver"
	"gomx/internal/labels"
	"gomx/transport"
	"gomx/transport/nic"
)

// What an endpoint logs, and at which level. docs/metrics.md has the table.
var logLines = map[driver.What]struct {
	level slog.Level
	text  string
}{
	driver.Connected:       {slog.LevelInfo, "connected"},
	driver.Ended:           {slog.LevelInfo, "session ended"},
	driver.Broken:          {slog.LevelWarn, "link broken"},
	driver.Resumed:         {slog.LevelInfo, "session resumed"},
	driver.RefusedPeer:     {slog.LevelWarn, "connect refused: wrong filter"},
	driver.TurnedDown:      {slog.LevelInfo, "connect rejected"},
	driver.BackPressure:    {slog.LevelInfo, "back-pressure: sends wait for credit"},
	driver.FellBack:        {slog.LevelInfo, "get rendezvous failed, goes on as pipelined rendezvous"},
	driver.NotReached:      {slog.LevelWarn, "peer not reached"},
	driver.RefusedStranger: {slog.LevelWarn, "handshake refused"},
}

// logBehind is the line for happenings that were dropped because the handler was too far behind.
const logBehind = "the log can't keep up"

const (
	logQueue  = 256         // happenings that wait for the handler
	logRepeat = time.Second // the same about the same peer is logged once in this time
	logFlush  = time.Second // that Close waits for the handler, at most
)

// eventLog hands what an endpoint has to tell to a logger, in a goroutine that is there while there is something. The
// handler may take its time, and may call the endpoint.
type eventLog struct {
	logger *slog.Logger
	ep     *Endpoint // set before anything is logged

	mu      sync.Mutex
	queue   []entry
	running chan struct{} // closed when the goroutine has ended; nil: there is none
	lost    int
	latest  map[topic]*repeats
	timer   *time.Timer // of momentIsOver; nil: nothing was skipped
}

type entry struct {
	driver.Happening
	at     time.Time
	before int // like this one, that were not logged
}

type topic struct {
	what driver.What
	peer transport.Address
}

// repeats are happenings of one topic since the last one that was logged.
type repeats struct {
	at      time.Time // of that one
	skipped int
	last    entry // of those skipped
}

// mostTopics bounds the memory of what was logged lately.
const mostTopics = 1024

// tell queues a happening. It does not block.
func (l *eventLog) tell(h driver.Happening) {
	if !l.logger.Enabled(context.Background(), logLines[h.What].level) {
		return
	}
	e := entry{Happening: h, at: time.Now()}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.repeated(&e) {
		l.push(&e)
	}
}

// push queues an entry for the handler. The lock is held.
func (l *eventLog) push(e *entry) {
	if len(l.queue) >= logQueue {
		l.lost += 1 + e.before
		return
	}
	l.queue = append(l.queue, *e)
	if l.running == nil {
		l.running = make(chan struct{})
		running := l.running
		go labels.For("log").Func(func() { l.work(running) })()
	}
}

// repeated reports whether the same was logged a moment ago. Then it is counted, and is logged with the next one, or when the moment is
// over.
func (l *eventLog) repeated(e *entry) bool {
	key := topic{e.What, e.Peer}
	r := l.latest[key]
	switch {
	case r == nil:
		if len(l.latest) >= mostTopics {
			l.catchUp(time.Time{})
			clear(l.latest)
		}
		if l.latest == nil {
			l.latest = map[topic]*repeats{}
		}
		l.latest[key] = &repeats{at: e.at}
		return false
	case e.at.Sub(r.at) < logRepeat:
		r.skipped++
		r.last = *e
		if l.timer == nil {
			l.timer = time.AfterFunc(logRepeat, l.momentIsOver)
		}
		return true
	}
	e.before, r.skipped, r.at = r.skipped, 0, e.at
	return false
}

func (l *eventLog) momentIsOver() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = nil
	if l.catchUp(time.Now().Add(-logRepeat)) {
		l.timer = time.AfterFunc(logRepeat, l.momentIsOver)
	}
}

// catchUp logs the last of those that were skipped, for each topic whose moment has begun before a time, or for all, and reports whether
// others are left.
func (l *eventLog) catchUp(before time.Time) (left bool) {
	for _, r := range l.latest {
		switch {
		case r.skipped == 0:
		case !before.IsZero() && r.at.After(before):
			left = true
		default:
			r.last.before = r.skipped - 1
			l.push(&r.last)
			r.at, r.skipped, r.last = time.Now(), 0, entry{}
		}
	}
	return left
}

func (l *eventLog) work(done chan struct{}) {
	defer close(done)
	for {
		l.mu.Lock()
		list, lost := l.queue, l.lost
		l.queue, l.lost = nil, 0
		if len(list) == 0 && lost == 0 {
			l.running = nil
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		for i := range list {
			l.write(&list[i])
		}
		if lost > 0 {
			l.logger.Warn(logBehind, "endpoint", l.ep.String(), "lost", lost)
		}
	}
}

func (l *eventLog) write(e *entry) {
	line := logLines[e.What]
	attrs := []slog.Attr{slog.String("endpoint", l.ep.String())}
	if e.Peer != (transport.Address{}) {
		attrs = append(attrs, slog.String("peer", peerName(l.ep.dir, e.Peer.NIC, e.Peer.Endpoint, e.Contexts)))
	}
	if e.Transport != "" {
		attrs = append(attrs, slog.String("transport", e.Transport))
	}
	if e.What == driver.Ended || e.What == driver.TurnedDown {
		attrs = append(attrs, slog.String("how", e.Code.String()))
	}
	if e.What == driver.Connected {
		if why := words(l.ep.worthSaying(e.Cause, nic.ID(e.Peer.NIC))); why != "" {
			attrs = append(attrs, slog.String("instead_because", why))
		}
	} else if e.Cause != nil {
		attrs = append(attrs, slog.String("cause", words(e.Cause)))
	}
	if e.before > 0 {
		attrs = append(attrs, slog.Int("more", e.before))
	}
	l.logger.LogAttrs(context.Background(), line.level, line.text, attrs...)
}

// flush waits until all was handed over, but not for long.
func (l *eventLog) flush() {
	if l == nil {
		return
	}
	l.mu.Lock()
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	l.catchUp(time.Time{})
	running := l.running
	l.mu.Unlock()
	if running == nil {
		return
	}
	select {
	case <-running:
	case <-time.After(logFlush):
	}
}

// Logger returns the logger of the endpoint: that of WithLogger, or the one that MX_LOG asks for, or nil. Safe from any
// goroutine.
func (ep *Endpoint) Logger() *slog.Logger {
	if ep.log == nil {
		return nil
	}
	return ep.log.logger
}

// logLevels are the words of MX_LOG.
var logLevels = map[string]slog.Level{"error": slog.LevelError, "warn": slog.LevelWarn, "info": slog.LevelInfo, "debug": slog.LevelDebug}

const logOff = "off"

// setLog reads MX_LOG.
func (e *environment) setLog(s string) error {
	word := strings.ToLower(s)
	level, ok := logLevels[word]
	if !ok && word != logOff {
		return fmt.Errorf("want off, error, warn, info or debug")
	}
	if e.log, e.logger = word, nil; ok {
		e.logger = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})).With("pid", os.Getpid())
	}
	return nil
}
