package trace

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"math"
	"strings"
	"testing"

	"gomx/endpoint"
	"gomx/internal/testlength"
	"gomx/mx/internal/tracefile"
)

// manyEvents is how many a file of the usual size holds. What takes time for each pair of them does not end while one waits.
const manyEvents = 1 << 17

// TestStretchesOfADamagedTrace: lengths that no trace has are counted in a time that ends.
func TestStretchesOfADamagedTrace(t *testing.T) {
	if n := len(count([][]int64{{1, math.MaxInt64}, {math.MaxInt64 - 1}})); n == 0 || n > 1000 {
		t.Errorf("%d lengths", n)
	}
}

// TestHostileFiles reports and writes what nobody would trace, in a time that does not grow with the square of it.
func TestHostileFiles(t *testing.T) {
	testlength.Long(t)
	for name, events := range map[string]func(i int) endpoint.Event{
		"messages at one time": func(i int) endpoint.Event { return sent(5, 1, uint32(i)) },
		"waits that overlap":   func(i int) endpoint.Event { return waited(1, int64(2+i)) },
		"waits for requests that never end, among completions": func(i int) endpoint.Event {
			if i%2 == 0 {
				return received(int64(i), 1, uint32(i))
			}
			w := waited(1, int64(i))
			w.Request = 77
			return w
		},
		"waits among accesses": func(i int) endpoint.Event {
			switch i % 4 {
			case 0:
				return endpoint.Event{Kind: endpoint.EventPut, At: int64(i), NIC: 1, Endpoint: 1, Seq: uint32(i), Request: 9}
			case 1:
				return endpoint.Event{Kind: endpoint.EventAnswered, At: int64(i), NIC: 1, Endpoint: 1, Request: 9}
			}
			return waited(1, int64(i))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list := make([]endpoint.Event, manyEvents)
			for i := range list {
				list[i] = events(i)
			}
			all, err := Merge([]*File{rankFile(0, 2, "host", list...), rankFile(1, 2, "host", list...)})
			if err != nil {
				t.Fatal(err)
			}
			if rep := all.Report(); len(rep.Ranks) != 2 {
				t.Errorf("%d ranks", len(rep.Ranks))
			}
			if err := all.WriteChrome(io.Discard); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestManyOverlaps leaves the tracks of waits apart from those of regions, however many goroutines wait.
func TestManyOverlaps(t *testing.T) {
	var events []endpoint.Event
	for i := range 2 * mostLanes {
		events = append(events, waited(1, int64(2+i)), endpoint.Event{Kind: endpoint.EventRegion, Since: 1, At: int64(2 + i), Name: 1})
	}
	f := rankFile(0, 1, "host", events...)
	f.file.Names = []string{"a step"}
	all, err := Merge([]*File{f})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := all.WriteChrome(&b); err != nil {
		t.Fatal(err)
	}
	doc := struct {
		TraceEvents []struct {
			Ph, Name string
			TID      int
		}
	}{}
	if err := json.Unmarshal([]byte(b.String()), &doc); err != nil {
		t.Fatal(err)
	}
	for _, ev := range doc.TraceEvents {
		if ev.Ph == "X" && (ev.Name == "a step") != (ev.TID >= trackRegions) {
			t.Fatalf("a slice %q is on track %d", ev.Name, ev.TID)
		}
	}
}

// FuzzReport has no events make a report, or what Perfetto reads, fail.
func FuzzReport(f *testing.F) {
	f.Add(make([]byte, 200), make([]byte, 100))
	f.Add([]byte(strings.Repeat("\x01\x00\x05\x00\x01\x00\x00\x00\x07\x08", 20)), []byte(strings.Repeat("\x05\x01\x09\x00\x00\x00\x00\x00\x07\x08", 20)))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		all, err := Merge([]*File{rankFile(0, 3, "a", eventsOf(a)...), rankFile(1, 3, "b", eventsOf(b)...)})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := json.Marshal(all.Report()); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := all.WriteChrome(&out); err != nil || !json.Valid([]byte(out.String())) {
			t.Fatalf("%v: %s", err, out.String())
		}
	})
}

// eventsOf makes events of bytes, ten of them each, as a file could have them.
func eventsOf(b []byte) (events []endpoint.Event) {
	times := [...]int64{0, 1, -1, math.MinInt64, math.MaxInt64}
	at := func(b byte) int64 {
		if int(b) >= 256-len(times) {
			return times[255-b]
		}
		return int64(b)
	}
	for ; len(b) >= 10; b = b[10:] {
		events = append(events, endpoint.Event{
			Kind: endpoint.EventKind(b[0]%20 + 1), Flags: endpoint.EventFlags(b[1]), At: at(b[2]), Since: at(b[3]), NIC: 1, Endpoint: uint32(b[4] % 3),
			Session: uint32(b[5] % 2), Seq: uint32(b[6] % 8), Request: endpoint.Handle(b[7] % 4), Name: uint16(b[8]), Bytes: binary.LittleEndian.Uint32([]byte{b[9], b[8], b[9], b[9]}),
		})
	}
	return events
}

// TestManyRanks is quick about a job of as many ranks as there may be, of which one has left a trace.
func TestManyRanks(t *testing.T) {
	const ranks = 1 << 20
	f := &File{Path: "file", file: &tracefile.File{Info: tracefile.Info{Host: "host", Clock: "host", PID: 1, NIC: 1}, Job: 9, Rank: 5, Ranks: ranks, Rate: 1}}
	all, err := Merge([]*File{f})
	if err != nil || len(all.Missing) != ranks-1 {
		t.Errorf("%d ranks are missing, want %d: %v", len(all.Missing), ranks-1, err)
	}
}
