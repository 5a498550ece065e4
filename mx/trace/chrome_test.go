package trace_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"gomx/mx/trace"
)

// chromeEvent has the fields that events of the trace-event format may have, of those kinds that we write. A file with others is not read.
type chromeEvent struct {
	Ph   string
	Name string
	Cat  string
	Pid  *int
	Tid  *int
	Ts   *float64
	Dur  *float64
	ID   any
	S    string
	Bp   string
	Args map[string]any
}

// track is a thread.
type track struct{ pid, tid int }

// arrow is one end of an arrow.
type arrow struct {
	at track
	ts float64
}

// chromeFile is what the check of a file knows so far.
type chromeFile struct {
	t            *testing.T
	processes    map[int]bool   // that have a name
	threads      map[track]bool // that have a name
	used         map[track]bool
	slices       map[track][]chromeEvent
	begins, ends map[string]arrow
	open, spans  map[string]float64
}

// checkChrome reads the file for Perfetto and chrome://tracing as the format is documented ("Trace Event Format", of the Catapult project), and more
// strictly than they do: each kind of event has the fields that it must have and no others, slices of a thread follow each other and do not overlap, arrows
// have both ends, each in a slice, spans begin and end, and all processes and threads have names.
func checkChrome(t *testing.T, all *trace.Trace) {
	t.Helper()
	var b bytes.Buffer
	if err := all.WriteChrome(&b); err != nil {
		t.Fatal(err)
	}
	var file struct {
		DisplayTimeUnit string
		TraceEvents     []chromeEvent
	}
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	if file.DisplayTimeUnit != "ns" || d.More() {
		t.Errorf("the unit is %q, and more follows: %v", file.DisplayTimeUnit, d.More())
	}
	c := &chromeFile{
		t: t, processes: map[int]bool{}, threads: map[track]bool{}, used: map[track]bool{}, slices: map[track][]chromeEvent{},
		begins: map[string]arrow{}, ends: map[string]arrow{}, open: map[string]float64{}, spans: map[string]float64{},
	}
	for i := range file.TraceEvents {
		c.event(&file.TraceEvents[i])
	}
	c.whole()
	arrows := 0
	for i := range all.Messages {
		if m := &all.Messages[i]; m.From >= 0 && m.To >= 0 && m.Sent != trace.Unknown && m.Arrived != trace.Unknown {
			arrows++
		}
	}
	for i := range all.Accesses {
		if a := &all.Accesses[i]; a.From >= 0 && a.To >= 0 && a.Begun != trace.Unknown && a.Served != trace.Unknown {
			arrows++
		}
	}
	if len(c.begins) != arrows {
		t.Errorf("there are %d arrows for %d messages and accesses that both sides know of", len(c.begins), arrows)
	}
}

// has reports which of its fields an event has, as a word.
func (e *chromeEvent) has() (fields string) {
	for _, f := range []struct {
		letter string
		there  bool
	}{
		{"t", e.Ts != nil}, {"d", e.Dur != nil}, {"c", e.Cat != ""}, {"i", e.ID != nil}, {"s", e.S != ""}, {"b", e.Bp != ""}, {"a", e.Args != nil},
	} {
		if f.there {
			fields += f.letter
		}
	}
	return fields
}

func (c *chromeFile) event(e *chromeEvent) {
	want, known := map[string]string{"M": "a", "X": "tda", "i": "tsa", "s": "tcib", "f": "tcib", "b": "tcia", "e": "tci"}[e.Ph]
	if !known || e.Name == "" || e.Pid == nil || *e.Pid <= 0 || e.Tid == nil || e.has() != want || e.Ts != nil && *e.Ts < 0 {
		c.t.Errorf("this is no event of the format: %+v, with fields %q", *e, e.has())
		return
	}
	at := track{*e.Pid, *e.Tid}
	id := fmt.Sprint(e.Cat, " ", e.ID)
	switch e.Ph {
	case "M":
		c.name(e, at)
		return
	case "X":
		c.slice(e, at)
	case "i":
		if e.S != "t" {
			c.t.Errorf("the scope of an instant is %q: %+v", e.S, *e)
		}
	case "s", "f":
		ends := c.begins
		if e.Ph == "f" {
			ends = c.ends
		}
		if _, twice := ends[id]; twice || e.Bp != "e" {
			c.t.Errorf("arrow %s twice, or without its slice: %+v", id, *e)
		}
		ends[id] = arrow{at, *e.Ts}
	case "b":
		if _, twice := c.open[id]; twice {
			c.t.Errorf("span %s begins twice", id)
		}
		c.open[id] = *e.Ts
	case "e":
		if began, is := c.open[id]; !is || *e.Ts < began {
			c.t.Errorf("span %s ends at %f, and has begun at %f, %v", id, *e.Ts, began, is)
		}
		c.spans[id] = *e.Ts
	}
	c.used[at] = true
}

// name takes what an event of metadata says.
func (c *chromeFile) name(e *chromeEvent, at track) {
	text, is := e.Args["name"].(string)
	switch e.Name {
	case "process_name":
		c.processes[at.pid] = true
	case "thread_name":
		c.threads[at] = true
	case "process_sort_index":
		_, is = e.Args["sort_index"].(float64)
		text = "a number"
	default:
		is = false
	}
	if !is || text == "" || len(e.Args) != 1 {
		c.t.Errorf("metadata that the format does not have: %+v", *e)
	}
}

// slop is half of the least digit of times, microseconds.
const slop = 0.0005

func (c *chromeFile) slice(e *chromeEvent, at track) {
	if n := len(c.slices[at]); n > 0 {
		if last := &c.slices[at][n-1]; *e.Ts < *last.Ts+*last.Dur-slop {
			c.t.Errorf("%s at %f overlaps %s, which ends at %f", e.Name, *e.Ts, last.Name, *last.Ts+*last.Dur)
		}
	}
	if *e.Dur < 0 {
		c.t.Errorf("%s takes %f", e.Name, *e.Dur)
	}
	c.slices[at] = append(c.slices[at], *e)
}

// whole checks what only the whole file shows.
func (c *chromeFile) whole() {
	for id, begin := range c.begins {
		end, is := c.ends[id]
		if !is || end.ts < begin.ts {
			c.t.Errorf("arrow %s begins at %f and ends at %f, %v", id, begin.ts, end.ts, is)
		}
		if !c.inSlice(begin) || is && !c.inSlice(end) {
			c.t.Errorf("an end of arrow %s is in no slice", id)
		}
	}
	if len(c.ends) != len(c.begins) {
		c.t.Errorf("%d arrows begin and %d end", len(c.begins), len(c.ends))
	}
	for id := range c.open {
		if _, is := c.spans[id]; !is {
			c.t.Errorf("span %s does not end", id)
		}
	}
	for at := range c.used {
		if !c.processes[at.pid] || !c.threads[at] {
			c.t.Errorf("process %d and its thread %d have no names", at.pid, at.tid)
		}
	}
}

func (c *chromeFile) inSlice(a arrow) bool {
	for i := range c.slices[a.at] {
		if s := &c.slices[a.at][i]; *s.Ts-slop <= a.ts && a.ts <= *s.Ts+*s.Dur+slop {
			return true
		}
	}
	return false
}
