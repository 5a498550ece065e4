package mx

import (
	"encoding/json"
	"maps"
	"sync"
	"time"

	"gomx/mx/internal/live"
)

// LiveReading is what a process answers to tools of the same user: package mx/live reads it.
type LiveReading struct {
	ProcessSnapshot
	User    int                        `json:"-"`                 // whose process it is, as the kernel knows; for root alone it may be another one's
	Cleared map[string]ClearedCounters `json:"cleared,omitempty"` // by endpoint
	Waits   []json.RawMessage          `json:"waits,omitempty"`   // of packages that are built on this one: see AddWaits
}

// ClearedCounters are the counters of an endpoint when a tool cleared them. The counters themselves go on: who wants to
// see what was counted since then subtracts these.
type ClearedCounters struct {
	At     time.Time `json:"at"`
	Values []uint64  `json:"values"` // in the order of the counters
}

// Questions that a process answers.
const (
	askSnapshot = "snapshot"
	askClear    = "clear"
	askOverview = "overview" // the snapshot without texts and rare counters, for those who ask every second
	askWaits    = "waits"    // the overview, with what packages on top wait for
)

// liveServer answers tools while endpoints are open.
type liveServer struct {
	s *live.Server // nil: nobody is answered

	mu      sync.Mutex
	cleared map[string]ClearedCounters
}

// begin begins to answer. Without a socket nobody is answered, and nothing else is wrong.
func (v *liveServer) begin(e *environment) {
	if v.s == nil && e.live {
		v.s, _ = live.Serve(v.answer)
	}
}

func (v *liveServer) end() {
	if v.s != nil {
		v.s.Close()
		v.s = nil
	}
}

func (v *liveServer) answer(question string) []byte {
	switch question {
	case askSnapshot, askClear:
		return v.answerSnapshot(question)
	case askOverview, askWaits:
		return answerOverview(question == askWaits)
	}
	return nil
}

func (v *liveServer) answerSnapshot(question string) []byte {
	r := LiveReading{ProcessSnapshot: Snapshot()}
	v.mu.Lock()
	defer v.mu.Unlock()
	r.Cleared = v.present(&r.ProcessSnapshot)
	text, err := json.Marshal(r)
	if err != nil {
		return nil
	}
	if question == askClear {
		v.clear(&r.ProcessSnapshot)
	}
	return text
}

// present returns what was cleared of endpoints that are still open, and forgets the rest.
func (v *liveServer) present(s *ProcessSnapshot) map[string]ClearedCounters {
	opened := map[string]time.Time{}
	for i := range s.Endpoints {
		opened[s.Endpoints[i].Name] = s.Endpoints[i].Opened
	}
	maps.DeleteFunc(v.cleared, func(name string, c ClearedCounters) bool {
		at, open := opened[name]
		return !open || c.At.Before(at)
	})
	return maps.Clone(v.cleared)
}

func (v *liveServer) clear(s *ProcessSnapshot) {
	if v.cleared == nil {
		v.cleared = map[string]ClearedCounters{}
	}
	for i := range s.Endpoints {
		ep := &s.Endpoints[i]
		c := ClearedCounters{At: s.Taken}
		for _, counter := range ep.Counters {
			if counter.Kind == Gauge {
				counter.Value = 0
			}
			c.Values = append(c.Values, counter.Value)
		}
		v.cleared[ep.Name] = c
	}
}
