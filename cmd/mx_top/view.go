package main

import (
	"time"
)

// view is what mx_top shows at a moment: in the terminal, on the page and with -json alike. It holds no payload.
type view struct {
	Taken     time.Time `json:"taken"`
	Over      float64   `json:"over"` // seconds that the rates are taken over; 0: there are none yet
	Endpoints []row     `json:"endpoints"`
	Jobs      []job     `json:"jobs"`
	Talk      []pair    `json:"talk"`
	Requests  []request `json:"requests"` // receives last, and of each the oldest first
	Blocked   []blocked `json:"blocked"`
	Silent    []silent  `json:"silent"`
}

// row is an endpoint. Rates are a second.
type row struct {
	Name            string  `json:"name"` // "host:board/endpoint"
	PID             int     `json:"pid"`
	Command         string  `json:"command"`
	Job             string  `json:"job,omitempty"`
	Rank            int     `json:"rank"` // in the job; -1: it is no rank's
	Transports      string  `json:"transports"`
	Open            float64 `json:"open"` // seconds
	Sent            float64 `json:"sent"` // messages
	Received        float64 `json:"received"`
	SentBytes       float64 `json:"sent_bytes"`
	ReceivedBytes   float64 `json:"received_bytes"`
	Posted          int     `json:"posted"`
	Pending         int     `json:"pending"`
	Unexpected      int     `json:"unexpected"`
	UnexpectedBytes int     `json:"unexpected_bytes"`
	UnexpectedBound int     `json:"unexpected_bound"`
	Oldest          float64 `json:"oldest"` // seconds, of a pending request
}

// job is a parallel program, and its hang report.
type job struct {
	ID      string   `json:"id"`
	Command string   `json:"command"`
	Size    int      `json:"size"`
	Ranks   []rank   `json:"ranks"`
	Steps   []step   `json:"steps"`
	Groups  []string `json:"groups"`
	Verdict []string `json:"verdict"`
	Age     float64  `json:"age"` // seconds since the ranks were asked
}

// rank is one of a job, and what it does.
type rank struct {
	Rank     int      `json:"rank"`
	PID      int      `json:"pid"` // 0: it was not found on this host
	Endpoint string   `json:"endpoint"`
	State    string   `json:"state"`
	Lines    []string `json:"lines"`
}

// step is a rank that waits for another.
type step struct {
	From  int    `json:"from"`
	To    int    `json:"to"`
	Why   string `json:"why"`
	Cycle bool   `json:"cycle"` // it is part of a cycle, or leads to a rank that is gone
}

// pair is an endpoint and a peer that it sends to.
type pair struct {
	From      string  `json:"from"`
	PID       int     `json:"pid"`
	To        string  `json:"to"`
	Transport string  `json:"transport"`
	Frames    uint32  `json:"frames"` // of the present session
	Rate      float64 `json:"rate"`   // frames a second
	Failure   string  `json:"failure,omitempty"`
}

// request is one that is not complete.
type request struct {
	Endpoint string  `json:"endpoint"`
	PID      int     `json:"pid"`
	Kind     string  `json:"kind"`
	Peer     string  `json:"peer"` // "": anyone
	Match    string  `json:"match"`
	Mask     string  `json:"mask"`
	Bytes    uint32  `json:"bytes"`
	Stage    string  `json:"stage"`
	Held     bool    `json:"held,omitempty"` // it waits for a counter of its endpoint, not for its peer
	Age      float64 `json:"age"`            // seconds, at most
}

// order is 1 for a receive, of which there may be many that nobody waits for, and 0 for all others, which are shown before.
func (q *request) order() int {
	if q.Kind == "recv" || q.Kind == "multi-receive" {
		return 1
	}
	return 0
}

// blocked is an endpoint whose requests wait for another.
type blocked struct {
	From   string  `json:"from"`
	PID    int     `json:"pid"`
	To     string  `json:"to"`
	Kind   string  `json:"kind"`
	Stage  string  `json:"stage"`
	Count  int     `json:"count"`
	More   bool    `json:"more,omitempty"` // there may be more of them: the process lists no more of its requests
	Oldest float64 `json:"oldest"`         // seconds
	Peer   string  `json:"peer"`           // what the other one does
	Cycle  bool    `json:"cycle"`          // the other one waits for this one, itself or through others
}

// silent is a process that does not answer, and the endpoints that it had when it last did.
type silent struct {
	PID       int      `json:"pid"`
	Command   string   `json:"command"`
	Endpoints []string `json:"endpoints"`
	Ranks     []int    `json:"ranks"`
	Error     string   `json:"error"`
}
