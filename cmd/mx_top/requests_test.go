package main

import (
	"strings"
	"testing"
)

// TestRequestsBesidesThoseListed are counted as the endpoints count them, and a count that may be too low says so.
func TestRequestsBesidesThoseListed(t *testing.T) {
	v := &view{Endpoints: []row{{Name: "a", PID: 1, Pending: 5001}}}
	for range 50 {
		v.Requests = append(v.Requests, request{Endpoint: "a", PID: 1, Peer: "b", Kind: "recv", Stage: "waits for its match", Age: 9})
	}
	v.findBlocked()
	if text := v.text(); !strings.Contains(text, "\nand 4991 more\n") || !strings.Contains(text, "50 or more recv") {
		t.Error(text)
	}
}

// TestTriggeredRequestsBlockNobody: what has not begun waits for its endpoint, and not for the peer that it is for.
func TestTriggeredRequestsBlockNobody(t *testing.T) {
	v := &view{Requests: []request{
		{Endpoint: "a", PID: 1, Peer: "b", Kind: "send", Stage: "begins when counter 1 comes to 3: it is at 2", Held: true, Age: 9},
		{Endpoint: "a", PID: 1, Peer: "b", Kind: "put", Stage: "waits for room in the link", Age: 9},
	}}
	v.findBlocked()
	if len(v.Blocked) != 1 || v.Blocked[0].Kind != "put" {
		t.Errorf("%+v", v.Blocked)
	}
}
