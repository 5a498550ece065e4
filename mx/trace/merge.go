package trace

import (
	"cmp"
	"fmt"
	"slices"

	"gomx/endpoint"
)

// Unknown is a time that no file has.
const Unknown = int64(-1)

// Trace is what several endpoints have traced. All times are nanoseconds since the first event.
type Trace struct {
	Ranks    []*Rank
	Size     int     // ranks that the job has; 0: it is not known
	Missing  []int   // those that there is no trace of
	Apart    [][]int // groups of places in Ranks that have exchanged nothing with each other, as of several runs; nil unless there are two at least
	Clocks   []Clock
	Messages []Message // in the order in which they were sent
	Accesses []Access  // of windows, in the order in which they were begun
}

// Rank is an endpoint, which need not be that of a rank.
type Rank struct {
	Name     string // "rank 3", or the name of the endpoint
	Number   int    // -1: it is not that of a rank
	Path     string
	Host     string
	Command  string
	PID      int
	Endpoint string
	Clock    int    // place in Clocks, 0 the first
	Closed   bool   // its endpoint was closed; else the process still runs, or was killed
	Lost     uint64 // events that later ones have overwritten
	Cut      uint64 // events that the file should have and has not
	Damaged  uint64 // events that are in the file, and can't be read
	First    int64  // time of the first event
	Last     int64
	Waits    []Wait
	Regions  []Region
	Notes    []Note

	file   *File
	events []endpoint.Event
	done   []completion
}

// Message is what is known of a message. Times that no file has are Unknown.
type Message struct {
	From, To   int // indices in Ranks; -1: there is no trace of that side
	Match      uint64
	Bytes      uint32
	Rendezvous bool
	Handled    bool  // by the unexpected handler
	Blocks     bool  // it was a pipelined rendezvous
	Sent       int64 // when the send, or that of the header, began
	Arrived    int64 // the message, or its header
	Matched    int64
	Pulled     int64 // the data of a rendezvous was there
	Done       int64 // when the sender of a rendezvous or synchronous message heard of it
}

// Wait is a wait of a caller that was not over within a few polls.
type Wait struct {
	From, To int64
	Class    uint64 // bits of the match information that its request has
	Message  int    // place in Messages of the one whose end has ended the wait; -1: it is not known
	Sending  bool   // the wait was for the end of the send of that message

	request endpoint.Handle
}

// Region is what a layer above has noted, such as a collective.
type Region struct {
	Name     string
	From, To int64
	ID       uint64
	Bytes    uint32
}

// Note is something that has happened to a peer.
type Note struct {
	At   int64
	What string
	NIC  uint64
	ID   uint32
}

// completion is the end of a request, or of a receive without one.
type completion struct {
	at      int64
	request endpoint.Handle
	message int // -1: it was that of a put, get or atomic
	sending bool
}

// Merge makes one trace of the files of a job, or of programs that have none. Errors: ErrMixed, ErrTwice, which name the files. That ranks are
// missing is no error, nor is it if endpoints have exchanged nothing: Missing and Apart say so.
func Merge(files []*File) (*Trace, error) {
	t := &Trace{}
	if err := t.check(files); err != nil {
		return nil, err
	}
	for _, f := range files {
		r := &Rank{
			Name: f.file.Endpoint, Number: f.file.Rank, Path: f.Path, Host: f.file.Host, Command: f.file.Command, PID: f.file.PID,
			Endpoint: f.file.Endpoint, Closed: f.file.Closed, Lost: f.file.Lost, Cut: f.file.Missing, Damaged: f.file.Torn, file: f, events: slices.Clone(f.file.Events),
		}
		if r.Number >= 0 {
			r.Name = fmt.Sprintf("rank %d", r.Number)
		}
		t.Ranks = append(t.Ranks, r)
	}
	slices.SortStableFunc(t.Ranks, func(a, b *Rank) int {
		return cmp.Or(cmp.Compare(uint(a.Number), uint(b.Number)), cmp.Compare(a.Endpoint, b.Endpoint), cmp.Compare(a.file.file.Began, b.file.file.Began))
	})
	there := map[int]bool{}
	for _, r := range t.Ranks {
		there[r.Number] = true
	}
	for n := range t.Size {
		if !there[n] {
			t.Missing = append(t.Missing, n)
		}
	}
	t.scale()
	t.separate()
	t.join()
	t.align()
	t.finish()
	return t, nil
}

// check wants all files to be of one job, and each rank and each other endpoint once. Endpoints that are none of the job's may be with it if they
// are of its processes.
func (t *Trace) check(files []*File) error {
	type process struct {
		host string
		pid  int
	}
	type opened struct {
		process
		nic uint64
		id  uint32
		at  int64
	}
	var first *File
	once := map[opened]*File{}
	ranks, processes := map[int]*File{}, map[process]bool{}
	for _, f := range files {
		if f.file.Job == 0 || f.file.Rank < 0 {
			continue
		}
		if first == nil {
			first, t.Size = f, f.file.Ranks
		}
		if f.file.Job != first.file.Job {
			return fmt.Errorf("%w: %s is of another one than %s", ErrMixed, f.Path, first.Path)
		}
		if before := ranks[f.file.Rank]; before != nil {
			return fmt.Errorf("%w: %s and %s are both of rank %d", ErrTwice, before.Path, f.Path, f.file.Rank)
		}
		ranks[f.file.Rank], processes[process{f.file.Host, f.file.PID}] = f, true
	}
	for _, f := range files {
		key := opened{process{f.file.Host, f.file.PID}, f.file.NIC, f.file.ID, f.file.Began}
		if before := once[key]; before != nil {
			return fmt.Errorf("%w: %s and %s are both of endpoint %s of process %d", ErrTwice, before.Path, f.Path, f.file.Endpoint, f.file.PID)
		}
		once[key] = f
		if first != nil && f.file.Rank < 0 && !processes[process{f.file.Host, f.file.PID}] {
			return fmt.Errorf("%w: %s is of no process of the job of %s", ErrMixed, f.Path, first.Path)
		}
	}
	return nil
}
