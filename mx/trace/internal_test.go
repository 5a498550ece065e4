package trace

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"gomx/endpoint"
	"gomx/mx/internal/tracefile"
)

// rankFile makes the trace of a rank, whose endpoint has the rank as its id.
func rankFile(rank, ranks int, clock string, events ...endpoint.Event) *File {
	return &File{Path: "file" + string(rune('0'+rank)), file: &tracefile.File{
		Info: tracefile.Info{Host: clock, Clock: clock, PID: 100 + rank, ID: uint32(rank), NIC: 1}, Job: 9, Rank: rank, Ranks: ranks, Rate: 1, Events: events,
	}}
}

func sent(at int64, to, seq uint32) endpoint.Event {
	return endpoint.Event{Kind: endpoint.EventSent, At: at, NIC: 1, Endpoint: to, Seq: seq}
}

func received(at int64, from, seq uint32) endpoint.Event {
	return endpoint.Event{Kind: endpoint.EventMatched, At: at, NIC: 1, Endpoint: from, Seq: seq}
}

func waited(from, to int64) endpoint.Event {
	return endpoint.Event{Kind: endpoint.EventWait, Since: from, At: to}
}

// TestLateSender has rank 2 compute while rank 1 waits for it, and rank 0 for rank 1: what rank 0 loses is rank 2's doing.
func TestLateSender(t *testing.T) {
	const ms = 1_000_000
	all, err := Merge([]*File{
		rankFile(0, 3, "host", received(1030*ms, 1, 1), waited(10*ms, 1031*ms)),
		rankFile(1, 3, "host", received(1010*ms, 2, 1), waited(5*ms, 1011*ms), sent(1020*ms, 0, 1)),
		rankFile(2, 3, "host", sent(0, 1, 7), sent(1000*ms, 1, 1)),
	})
	if err != nil {
		t.Fatal(err)
	}
	rep := all.Report()
	if rep.Path.Holder != "rank 2" || rep.Path.Hops != 2 || rep.Ranks[2].OnPath != 1000*ms {
		t.Errorf("path %+v, ranks %+v", rep.Path, rep.Ranks)
	}
	if len(rep.Late) != 2 || rep.Late[0] != (Late{"rank 0", "rank 1", LateSender, 1, 1010 * ms}) || rep.Late[1] != (Late{"rank 1", "rank 2", LateSender, 1, 995 * ms}) {
		t.Errorf("late %+v", rep.Late)
	}
	if rep.Ranks[1].Behind != 995*ms || rep.Ranks[1].Held != 1010*ms || rep.Ranks[1].Waited != 1006*ms {
		t.Errorf("rank 1: %+v", rep.Ranks[1])
	}
}

// TestWaitInParts: a wait that was woken up without its message, as one is for a hang report, goes on in the next; the wait for another request
// is one of its own.
func TestWaitInParts(t *testing.T) {
	const ms = 1_000_000
	of := func(h endpoint.Handle, w endpoint.Event) endpoint.Event { w.Request = h; return w }
	match := of(4, received(1030*ms, 1, 1))
	all, err := Merge([]*File{
		rankFile(0, 2, "host", of(3, waited(5*ms, 10*ms)), of(4, waited(10*ms+10, 400*ms)), waited(400*ms+20, 700*ms), waited(700*ms+20, 1031*ms), match),
		rankFile(1, 2, "host", sent(0, 2, 7), sent(1010*ms, 0, 1)),
	})
	if err != nil {
		t.Fatal(err)
	}
	if rep := all.Report(); len(rep.Late) != 1 || rep.Late[0] != (Late{"rank 0", "rank 1", LateSender, 1, 1000*ms - 10}) || rep.Ranks[0].Waits != 2 {
		t.Errorf("late %+v, rank 0 %+v", rep.Late, rep.Ranks[0])
	}
}

// TestLateReceiver has a sender wait for the match of a rendezvous, and another one for its bytes only.
func TestLateReceiver(t *testing.T) {
	offer := func(at int64, seq uint32, h endpoint.Handle) endpoint.Event {
		return endpoint.Event{Kind: endpoint.EventOffered, Flags: endpoint.EventRendezvous, At: at, NIC: 1, Endpoint: 1, Seq: seq, Request: h}
	}
	ends := func(kind endpoint.EventKind, at int64, peer uint32, h endpoint.Handle) endpoint.Event {
		return endpoint.Event{Kind: kind, At: at, NIC: 1, Endpoint: peer, Request: h}
	}
	match := func(at int64, seq uint32, h endpoint.Handle, stored endpoint.EventFlags) endpoint.Event {
		return endpoint.Event{Kind: endpoint.EventMatched, Flags: endpoint.EventRendezvous | stored, At: at, NIC: 1, Seq: seq, Request: h}
	}
	came := endpoint.Event{Kind: endpoint.EventUnexpected, Flags: endpoint.EventRendezvous, At: 15, NIC: 1, Seq: 1}
	slow := waited(20, 620)
	slow.Request = 5
	quick := waited(710, 790)
	quick.Request = 6
	all, err := Merge([]*File{
		rankFile(0, 2, "host", offer(10, 1, 5), ends(endpoint.EventDone, 610, 1, 5), slow, offer(700, 2, 6), ends(endpoint.EventDone, 780, 1, 6), quick),
		rankFile(1, 2, "host", came, match(500, 1, 3, endpoint.EventStored), ends(endpoint.EventPulled, 600, 0, 3),
			match(705, 2, 4, 0), ends(endpoint.EventPulled, 770, 0, 4)),
	})
	if err != nil {
		t.Fatal(err)
	}
	rep := all.Report()
	if len(rep.Late) != 1 || rep.Late[0] != (Late{"rank 0", "rank 1", LateReceiver, 1, 480}) {
		t.Errorf("late %+v", rep.Late)
	}
}

// TestClocks aligns two hosts, one of which is 1,000,000 ahead, by messages that take 40 to 60; a third says too little.
func TestClocks(t *testing.T) {
	const ahead = 1_000_000
	all, err := Merge([]*File{
		rankFile(0, 3, "a", sent(100, 1, 1), received(360, 1, 1), sent(400, 2, 1)),
		rankFile(1, 3, "b", received(ahead+140, 0, 1), sent(ahead+300, 0, 1)),
		rankFile(2, 3, "c", received(77, 0, 1)),
	})
	if err != nil {
		t.Fatal(err)
	}
	// The times of each clock begin with its first event: that of b at 100 + 40.
	if c := all.Clocks[1]; !c.Aligned || c.Uncertainty != 50 || c.Note != "" {
		t.Errorf("clock b: %+v", c)
	}
	if c := all.Clocks[2]; c.Aligned || c.Note == "" {
		t.Errorf("clock c: %+v", c)
	}
	for _, m := range all.Messages[:2] {
		if took := m.Arrived - m.Sent; m.To != 2 && took != 50 {
			t.Errorf("a message takes %d, and half of both ways is 50", took)
		}
	}
	if all.comparable(0, 2) || !all.comparable(1, 0) {
		t.Error("clocks can be compared that are not aligned, or the other way round")
	}
}

// TestOddSets has files of different jobs refused, and two of one rank, and says which ranks are missing.
func TestOddSets(t *testing.T) {
	other := rankFile(1, 2, "host")
	other.file.Job = 10
	if _, err := Merge([]*File{rankFile(0, 2, "host"), other}); !errors.Is(err, ErrMixed) || !strings.Contains(err.Error(), "file1 is of another one than file0") {
		t.Errorf("two jobs: %v", err)
	}
	stray := rankFile(1, 0, "host")
	stray.file.Job, stray.file.Rank = 0, -1
	if _, err := Merge([]*File{rankFile(0, 2, "host"), stray}); !errors.Is(err, ErrMixed) {
		t.Errorf("a job and a program that is none of it: %v", err)
	}
	stray.file.PID = 100
	if _, err := Merge([]*File{rankFile(0, 2, "host"), stray}); err != nil {
		t.Errorf("another endpoint of a rank's process: %v", err)
	}
	if _, err := Merge([]*File{rankFile(1, 2, "host"), rankFile(1, 2, "host")}); !errors.Is(err, ErrTwice) {
		t.Errorf("one rank twice: %v", err)
	}
	all, err := Merge([]*File{rankFile(1, 4, "host"), rankFile(2, 4, "host")})
	if err != nil || len(all.Missing) != 2 || all.Missing[0] != 0 || all.Missing[1] != 3 {
		t.Errorf("missing %v, %v", all.Missing, err)
	}
	if rep := all.Report(); rep.Duration != 0 || rep.Path.Holder != "" {
		t.Errorf("of ranks without events: %+v", rep)
	}
}

// TestApart finds groups of endpoints without a session in common, though runs use the same addresses.
func TestApart(t *testing.T) {
	file := func(name string, pid int, id, session uint32, events ...endpoint.Event) *File {
		f := rankFile(0, 0, "host", events...)
		f.Path, f.file.PID, f.file.ID, f.file.Job, f.file.Rank, f.file.Began = name, pid, id, 0, -1, int64(pid)
		for i := range f.file.Events {
			f.file.Events[i].Session = session
		}
		return f
	}
	a, b := file("a", 1, 0, 77, sent(0, 1, 1)), file("b", 2, 1, 77, received(5, 0, 9)) // of other messages
	c, d := file("c", 3, 0, 78, sent(100, 1, 1)), file("d", 4, 1, 78, received(105, 0, 1))
	idle, own := file("idle", 5, 7, 0), file("own", 1, 9, 80, sent(0, 9, 1))
	for _, test := range []struct {
		files []*File
		want  [][]string
	}{
		{[]*File{a, b}, nil},
		{[]*File{a, b, idle, own}, nil},
		{[]*File{d, b, a, own, c}, [][]string{{"a", "own", "b"}, {"c", "d"}}},
		{[]*File{a, c}, [][]string{{"a"}, {"c"}}},
	} {
		all, err := Merge(test.files)
		if err != nil {
			t.Fatal(err)
		}
		if got := all.Report().Apart; !slices.EqualFunc(got, test.want, slices.Equal) {
			t.Errorf("of %d files: %v, want %v", len(test.files), got, test.want)
		}
	}
	again := *a
	again.Path = "again"
	if _, err := Merge([]*File{a, b, &again}); !errors.Is(err, ErrTwice) || !strings.Contains(err.Error(), "a and again are both of endpoint") {
		t.Errorf("of a copy: %v", err)
	}
}

// TestRegionNames says of a region that its name is not in the file, whatever number the event has.
func TestRegionNames(t *testing.T) {
	f := rankFile(0, 1, "host", endpoint.Event{Kind: endpoint.EventRegion, At: 5, Since: 1, Name: 1}, endpoint.Event{Kind: endpoint.EventRegion, At: 6, Since: 2},
		endpoint.Event{Kind: endpoint.EventRegion, At: 7, Since: 3, Name: 9})
	f.file.Names = []string{"a step"}
	all, err := Merge([]*File{f})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, g := range all.Ranks[0].Regions {
		names = append(names, g.Name)
	}
	if !slices.Equal(names, []string{"a step", noName, noName}) {
		t.Errorf("%q", names)
	}
}
