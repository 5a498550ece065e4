package endpoint

import "testing"

// TestTalliesOfManyClasses counts in more classes than there are slots, in turns, and loses none.
func TestTalliesOfManyClasses(t *testing.T) {
	e := &Engine{}
	e.classes.begin(8)
	const classes = 5 * tallySlots
	for round := range 3 {
		for class := range uint64(classes) {
			e.classes.of(class<<8 | uint64(round)).send(int(class))
			e.classes.of(class << 8).receive(1)
		}
	}
	e.Waited(7, 100)
	e.MergeTally(classes-1, 7)
	all := e.Tallies()
	if len(all) != classes-1 {
		t.Errorf("%d classes", len(all))
	}
	for class, got := range all {
		want := Tally{Sent: 3, SentBytes: 3 * class, Received: 3, ReceivedBytes: 3}
		if class == 7 {
			want = Tally{Sent: 6, SentBytes: 3 * (7 + classes - 1), Received: 6, ReceivedBytes: 6, Waits: 1, Waited: 100}
		}
		if got != want {
			t.Errorf("class %d: %+v, not %+v", class, got, want)
		}
	}
	allocs := testing.AllocsPerRun(100, func() {
		e.classes.of(1 << 8).send(1)
		e.classes.of((1 + tallySlots) << 8).send(1)
		e.classes.of(3 << 8).send(1)
	})
	if allocs != 0 {
		t.Errorf("two classes of one slot in turns allocate %v times", allocs)
	}
}

// TestOneClass counts all messages in class 0 unless told otherwise.
func TestOneClass(t *testing.T) {
	e := &Engine{}
	e.classes.begin(0)
	e.classes.of(1<<63 + 5).send(8)
	e.classes.of(0).send(8)
	if all := e.Tallies(); len(all) != 1 || all[0].Sent != 2 {
		t.Errorf("%+v", all)
	}
}

// TestTrafficOfManyMedia counts eager messages of several media and classes in turns, for both.
func TestTrafficOfManyMedia(t *testing.T) {
	if !Counting {
		t.Skip("it was built with the tag mx_nocounters, and counts nothing")
	}
	e := &Engine{}
	e.classes.begin(8)
	media := []*Medium{e.mediumNamed("shm"), e.mediumNamed("tcp")}
	for i := range uint64(100) {
		m, info := media[i/3%2], i/5%2<<8
		e.classes.over(m, info).send(10)
		e.classes.over(m, info).receive(7)
		if i%7 == 0 {
			e.classes.of(info).send(1000) // which is of no medium
		}
		if i%11 == 0 {
			e.Media()
		}
	}
	var sent, bytes, received uint64
	for _, m := range e.Media() {
		sent, bytes, received = sent+m.SentEager, bytes+m.BytesSent, received+m.RecvEager
		if m.SentEager < 48 || m.BytesSent != 10*m.SentEager || m.BytesReceived != 7*m.RecvEager {
			t.Errorf("%+v", m)
		}
	}
	if sent != 100 || bytes != 1000 || received != 100 {
		t.Errorf("over all media: %d sent with %d bytes, %d received", sent, bytes, received)
	}
	all := e.Tallies()
	if sum := all[0].Sent + all[1].Sent; sum != 100+15 {
		t.Errorf("in all classes: %d sent", sum)
	}
	if sum := all[0].ReceivedBytes + all[1].ReceivedBytes; sum != 700 {
		t.Errorf("in all classes: %d bytes received", sum)
	}
}
