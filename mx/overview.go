package mx

import (
	"cmp"
	"encoding/json"
	"slices"
	"sync"
)

// overviewCounters are those that an overview has.
var overviewCounters = []string{"messages_sent", "messages_received", "sent_bytes", "received_bytes"}

// overviewPending is how many pending requests of an endpoint an overview lists: receives come last, and then the youngest.
const overviewPending = 50

// answerOverview is the snapshot for those who ask every second: some counters of each endpoint, without their texts.
func answerOverview(waits bool) []byte {
	r := LiveReading{ProcessSnapshot: Snapshot()}
	r.Groups = nil
	for i := range r.Endpoints {
		r.Endpoints[i].shorten()
	}
	if waits {
		r.Waits = waitSources.all()
	}
	text, err := json.Marshal(r)
	if err != nil {
		return nil
	}
	return text
}

func (s *EndpointSnapshot) shorten() {
	s.Diagnostics, s.Windows = nil, nil
	s.Counters = slices.DeleteFunc(s.Counters, func(c Counter) bool { return !slices.Contains(overviewCounters, c.Name) })
	for i := range s.Counters {
		s.Counters[i] = Counter{Name: s.Counters[i].Name, Kind: s.Counters[i].Kind, Value: s.Counters[i].Value}
	}
	slices.SortStableFunc(s.Pending, func(a, b PendingEntry) int {
		if a.receives() != b.receives() {
			if a.receives() {
				return 1
			}
			return -1
		}
		return cmp.Compare(b.Age, a.Age)
	})
	s.Pending = s.Pending[:min(len(s.Pending), overviewPending)]
}

// receives reports whether it is a receive: a program that waits for nothing may have many of them.
func (p *PendingEntry) receives() bool { return p.Kind == "recv" || p.Kind == "multi-receive" }

// waitsOf are the packages that say what they wait for.
type waitsOf struct {
	mu   sync.Mutex
	list []*waitsSource
}

type waitsSource struct{ waits func() any }

var waitSources waitsOf

// AddWaits lets tools that inspect the running process see what a package that is built on this one waits for. waits is
// called when a tool asks, from any goroutine, and must return within a second a value that encodes to JSON, or nil. It
// must contain neither payload nor secrets. remove ends that, and may be called more than once. nil adds nothing. MX does not
// have it. Safe from any goroutine.
func AddWaits(waits func() any) (remove func()) {
	if waits == nil {
		return func() {}
	}
	s := &waitsSource{waits}
	w := &waitSources
	w.mu.Lock()
	w.list = append(slices.Clone(w.list), s)
	w.mu.Unlock()
	return func() {
		w.mu.Lock()
		w.list = slices.DeleteFunc(slices.Clone(w.list), func(other *waitsSource) bool { return other == s })
		w.mu.Unlock()
	}
}

// all asks the sources, all at once: each may look around for a moment.
func (w *waitsOf) all() (texts []json.RawMessage) {
	w.mu.Lock()
	list := w.list
	w.mu.Unlock()
	found := make([]json.RawMessage, len(list))
	var wait sync.WaitGroup
	for i, s := range list {
		wait.Go(func() {
			if v := s.waits(); v != nil {
				found[i], _ = json.Marshal(v)
			}
		})
	}
	wait.Wait()
	for _, text := range found {
		if len(text) > 0 {
			texts = append(texts, text)
		}
	}
	return texts
}
