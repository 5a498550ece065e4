package mx

import (
	"cmp"
	"os"
	"slices"
	"time"

	"gomx/endpoint"
	"gomx/transport"
	"gomx/transport/wire"
)

// ProcessSnapshot is what a process knows of its endpoints at a moment: a value of its own, which encodes to JSON and back.
// It holds no payload and no secrets.
type ProcessSnapshot struct {
	Taken     time.Time          `json:"taken"`
	PID       int                `json:"pid"`
	Command   string             `json:"command"` // the name that the program was started under
	Host      string             `json:"host"`
	Endpoints []EndpointSnapshot `json:"endpoints"`
	Groups    []CounterGroup     `json:"groups"` // of packages that are built on this one
}

// EndpointSnapshot is the part of a ProcessSnapshot that is about one endpoint.
type EndpointSnapshot struct {
	Name        string         `json:"name"` // "host:board/endpoint", and of several contexts each "host:board/endpoint.context"
	Board       uint32         `json:"board"`
	Interface   string         `json:"interface"` // of the board
	NICID       uint64         `json:"nic_id"`
	ID          uint32         `json:"endpoint"` // that peers dial: of a context, the endpoint's and its index
	Opened      time.Time      `json:"opened"`
	Transports  []string       `json:"transports"`
	Depths      Depths         `json:"depths"`
	Counters    []Counter      `json:"counters"`
	Peers       []PeerInfo     `json:"peers"`
	Pending     []PendingEntry `json:"pending"`           // no more than MostPending of them
	Windows     []WindowInfo   `json:"windows,omitempty"` // no more than MostPending of them
	Diagnostics []Diagnostic   `json:"diagnostics,omitempty"`

	// Of an endpoint with several contexts, which are listed each for itself.
	Context     int    `json:"context,omitempty"`  // index of this one
	Contexts    int    `json:"contexts,omitempty"` // how many there are
	ContextName string `json:"context_name,omitempty"`
}

// FullID returns the endpoint id as tools print it: "3", and of the second of several contexts "3.1".
func (s *EndpointSnapshot) FullID() string {
	return idWithContext(s.ID, wire.Contexts{Number: uint8(s.Contexts), Index: uint8(s.Context)})
}

// MostPending is how many pending requests, and how many windows, of an endpoint a snapshot lists. Depths has the number
// of all of them.
const MostPending = 1000

// Depths says how full the queues of an endpoint are at a moment, in messages or requests; memory is in bytes.
type Depths struct {
	Posted          int `json:"posted"`           // receives that wait for a message
	Unexpected      int `json:"unexpected"`       // messages that no receive has taken
	UnexpectedBytes int `json:"unexpected_bytes"` // memory that these take, with their headers
	UnexpectedBound int `json:"unexpected_bound"` // memory that their data may take (MX_UNEXP_BYTES)
	Requests        int `json:"requests"`         // in any state
	Pending         int `json:"pending"`          // that are not complete
	Completed       int `json:"completed"`        // completions that nobody has collected: requests, and messages of multi-receives
	Pulls           int `json:"pulls"`            // rendezvous whose blocks are coming
	Kept            int `json:"kept"`             // frames that are not acknowledged yet
	Windows         int `json:"windows"`
}

// PendingEntry is a request that is not complete, as a snapshot has it.
type PendingEntry struct {
	Kind      string  `json:"kind"`           // one of PendingRequest.Kind
	Peer      string  `json:"peer,omitempty"` // "": anyone
	MatchInfo uint64  `json:"match,string"`
	MatchMask uint64  `json:"mask,string"`
	Bytes     uint32  `json:"bytes"`          // of the message; of a receive that has not matched: the room for it
	Stage     string  `json:"stage"`          // what it waits for
	Held      bool    `json:"held,omitempty"` // it is triggered, and waits for a counter of its endpoint
	Age       float64 `json:"age"`            // seconds since it was started, at most: the clock is not read for each request
}

// WindowInfo is a window of an endpoint, as a snapshot has it. The handle is not part of it: who has that may use the window.
type WindowInfo struct {
	Bytes  int    `json:"bytes"`
	Read   bool   `json:"read"`             // peers may get, and learn by atomics what is there
	Write  bool   `json:"write"`            // peers may put, and change by atomics what is there
	Closed bool   `json:"closed,omitempty"` // Close was called, and a peer's operation is not over
	Busy   int    `json:"busy"`             // operations of peers that are under way
	Puts   uint64 `json:"puts"`             // of peers, that have been carried out
	Gets   uint64 `json:"gets"`
}

// CounterGroup is the counters of one thing: an endpoint, a communicator, a library of sockets.
type CounterGroup struct {
	Layer    string    `json:"layer"`  // whose they are: "mx", "exs", "mpi"
	Labels   []Label   `json:"labels"` // which of them
	Counters []Counter `json:"counters"`
}

// Snapshot returns what is known of all open endpoints of the process, and the counters of the packages on top. It takes
// the lock of each endpoint for a moment. Before Init it is empty. Safe from any goroutine.
func Snapshot() ProcessSnapshot {
	s := ProcessSnapshot{Taken: time.Now(), PID: os.Getpid(), Command: command(), Endpoints: []EndpointSnapshot{}, Groups: sources.all()}
	s.Host, _ = os.Hostname()
	for _, ep := range endpoints() {
		s.Endpoints = append(s.Endpoints, ep.Snapshot())
	}
	slices.SortFunc(s.Endpoints, func(a, b EndpointSnapshot) int {
		return cmp.Or(cmp.Compare(a.Board, b.Board), cmp.Compare(a.ID, b.ID))
	})
	return s
}

// Snapshot returns what is known of the endpoint. Safe from any goroutine, also after Close.
func (ep *Endpoint) Snapshot() EndpointSnapshot {
	r := ep.d.Report()
	values := tallyOf(&r)
	s := EndpointSnapshot{
		Name: ep.String(), Board: ep.Board(), Interface: ep.board.Interface, NICID: uint64(ep.board.ID), ID: ep.id,
		Opened: ep.opened, Transports: ep.TransportNames(),
		Counters: values.list(), Peers: ep.Peers(), Pending: []PendingEntry{}, Windows: windowInfos(ep.d.Windows(MostPending)), Diagnostics: ep.allDiagnostics(r.Diagnostics),
		Depths: Depths{
			Posted: r.Depths.Posted, Unexpected: r.Depths.Unexpected, UnexpectedBytes: r.Depths.Bytes, UnexpectedBound: r.Depths.Bound,
			Requests: r.Depths.Requests, Completed: r.Depths.Completed, Pulls: r.Depths.Pulls, Kept: r.Depths.Kept, Windows: r.Depths.Windows,
		},
	}
	if ep.group != nil {
		s.Context, s.Contexts, s.ContextName = ep.index, ep.Contexts(), ep.ContextName()
	}
	if s.Peers == nil {
		s.Peers = []PeerInfo{}
	}
	list, all, now := ep.d.Outstanding(MostPending)
	s.Depths.Pending = all
	names := map[endpoint.Addr]string{{}: ""}
	for i := range list {
		o := &list[i]
		name, known := names[o.Peer]
		if !known {
			name = EndpointAddr{ep, o.Peer}.String()
			names[o.Peer] = name
		}
		s.Pending = append(s.Pending, pendingEntry(o, now, name))
	}
	return s
}

func windowInfos(states []endpoint.WindowState) (list []WindowInfo) {
	for _, w := range states {
		list = append(list, WindowInfo{w.Bytes, w.May&endpoint.MayRead != 0, w.May&endpoint.MayWrite != 0, w.Closed, w.Busy, w.Puts, w.Gets})
	}
	return list
}

func pendingEntry(o *endpoint.Outstanding, now endpoint.Tick, peer string) PendingEntry {
	p := PendingEntry{Kind: o.Kind, Peer: peer, MatchInfo: o.Match, MatchMask: o.Mask, Bytes: o.Bytes, Stage: o.Stage, Held: o.Held}
	if now > o.Started {
		p.Age = (time.Duration(now-o.Started) * time.Millisecond).Seconds()
	}
	return p
}

// allDiagnostics returns the lines about the transports, and why there is no RDMA.
func (ep *Endpoint) allDiagnostics(list []transport.Diagnostic) []Diagnostic {
	all := make([]Diagnostic, 0, len(list)+1)
	for _, d := range list {
		all = append(all, Diagnostic(d))
	}
	if ep.not != nil {
		all = append(all, Diagnostic{"no RDMA because", words(ep.not)})
	}
	return all
}

// CounterGroups returns the counters of the snapshot's endpoints and of the packages on top, all in one form.
func (s *ProcessSnapshot) CounterGroups() []CounterGroup {
	var all []CounterGroup
	for i := range s.Endpoints {
		ep := &s.Endpoints[i]
		all = append(all, CounterGroup{Layer: "mx", Labels: []Label{{"endpoint", ep.Name}}, Counters: ep.Counters})
	}
	return append(all, s.Groups...)
}
