package hang

// State is what a rank does.
type State string

// The states. A rank in NoCall computes, or is in a call of another library.
const (
	NoCall    State = "not blocked in an MPI call"
	Waits     State = "waits"
	Silent    State = "does not answer"
	Dead      State = "is dead"
	Finalized State = "has finalized"
)

// Kind says what has to happen for a request to end.
type Kind string

// The kinds.
const (
	Recv       Kind = "recv"       // the peer sends
	Send       Kind = "send"       // the peer receives, or takes the message out of the way
	Collective Kind = "collective" // all ranks of the communicator take part
	Lock       Kind = "lock"       // those who hold the lock of the peer's window give it up
	Answer     Kind = "answer"     // the peer's process answers, whatever its ranks do
)

// Any stands for every peer, or every tag.
const Any = -1

// Need is a request, or a collective call. Ranks are those of the job.
type Need struct {
	Kind  Kind    `json:"kind"`
	Op    string  `json:"op"`              // the function: "Irecv", "Barrier"
	Peer  int     `json:"peer"`            // or Any; nothing for collectives
	Tag   int     `json:"tag"`             // or Any; the number of a collective
	Comm  string  `json:"comm"`            // the identity of the communicator or window, see Comm
	Bytes uint64  `json:"bytes"`           // room of a receive, size of a send
	Age   float64 `json:"age"`             // seconds since it began, 0 if nobody knows
	Stage string  `json:"stage,omitempty"` // how far it is, in words
}

// Wait is a call that blocks.
type Wait struct {
	Call  string  `json:"call"`            // the function: "Recv", "WaitAll"
	Age   float64 `json:"age"`             // seconds
	Least bool    `json:"least,omitempty"` // it has blocked for longer: the age counts from the first report that found it so
	Any   bool    `json:"any,omitempty"`   // one of the needs is enough
	Needs []Need  `json:"needs"`           // what is missing still
	Ends  bool    `json:"ends,omitempty"`  // a context may end it, whatever its needs do
	Left  float64 `json:"left,omitempty"`  // seconds until that context's deadline, 0 if it has none
	ID    uint64  `json:"id,omitempty"`    // the same as long as the call blocks, and no other call's of the rank
}

// Rank is what is known about one rank of the job.
type Rank struct {
	Rank    int     `json:"rank"`
	State   State   `json:"state"`
	Host    string  `json:"host,omitempty"`
	PID     int     `json:"pid,omitempty"`
	Waits   []Wait  `json:"waits,omitempty"`   // of all its goroutines
	Pending []Need  `json:"pending,omitempty"` // requests that nobody waits for
	Reached []Stand `json:"reached,omitempty"` // the last collective that it has come to
}

// Stand is how far a rank is in the collectives of a communicator.
type Stand struct {
	Comm   string `json:"comm"`
	Number int    `json:"number"` // of the last collective that it has called; the first is 0
}

// Comm is a communicator.
type Comm struct {
	ID      string `json:"id"`      // the same at all its members, and no other communicator's
	Name    string `json:"name"`    // for people
	Members []int  `json:"members"` // ranks of the job
}

// Held is a lock of a window that somebody holds.
type Held struct {
	Comm    string `json:"comm"`   // the window's communicator
	Target  int    `json:"target"` // whose memory it protects
	Holders []int  `json:"holders"`
}

// Snapshot is a job at one time, as far as it could be asked. Ranks that it does not
// mention are taken for silent.
type Snapshot struct {
	Size  int    `json:"size"`
	Ranks []Rank `json:"ranks"` // in any order
	Comms []Comm `json:"comms"`
	Locks []Held `json:"locks,omitempty"`
}

// job is a snapshot put in order: one entry for each rank.
type job struct {
	ranks []Rank
	comms map[string]Comm
	named map[string]int // communicators by name
	locks map[lockOf][]int

	absent map[collective][]int // who has not come to it
	blocks [][][]blockers       // of each need of each wait of each rank
}

// collective names one of them.
type collective struct {
	comm   string
	number int
}

type lockOf struct {
	comm   string
	target int
}

// order brings a snapshot into the order of ranks. Of two entries for a rank the one
// that says more is taken, and nonsense is left out.
func order(s Snapshot) *job {
	j := &job{
		ranks:  make([]Rank, max(s.Size, 0)),
		comms:  map[string]Comm{},
		named:  map[string]int{},
		locks:  map[lockOf][]int{},
		absent: map[collective][]int{},
	}
	for r := range j.ranks {
		j.ranks[r] = Rank{Rank: r, State: Silent}
	}
	for _, r := range s.Ranks {
		if j.has(r.Rank) && weight(r) > weight(j.ranks[r.Rank]) {
			j.ranks[r.Rank] = r
		}
	}
	for _, c := range s.Comms {
		if len(c.Members) > len(j.comms[c.ID].Members) {
			j.comms[c.ID] = c
		}
	}
	for _, c := range j.comms {
		j.named[c.Name]++
	}
	for _, l := range s.Locks {
		j.locks[lockOf{l.Comm, l.Target}] = l.Holders
	}
	j.findBlockers()
	return j
}

func weight(r Rank) int {
	switch r.State {
	case Dead:
		return 4
	case Finalized:
		return 3
	case Waits:
		if len(r.Waits) > 0 {
			return 2
		}
		return 1
	case NoCall:
		return 1
	}
	return 0
}

func (j *job) has(r int) bool { return r >= 0 && r < len(j.ranks) }

func (j *job) gone(r int) bool {
	return j.ranks[r].State == Dead || j.ranks[r].State == Finalized
}

// waits reports whether a rank only waits, as far as is known.
func (j *job) waits(r int) bool {
	return j.ranks[r].State == Waits && len(j.ranks[r].Waits) > 0
}

// name returns what people call a communicator, and tells it from others of that name.
func (j *job) name(comm string) string {
	switch c := j.comms[comm]; {
	case c.Name == "":
		return comm
	case j.named[c.Name] > 1:
		return c.Name + " (" + comm + ")"
	default:
		return c.Name
	}
}
