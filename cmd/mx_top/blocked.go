package main

import (
	"fmt"
	"slices"
)

// findBlocked finds the endpoints whose requests have waited for another one for long.
func (v *view) findBlocked() {
	at := map[[4]string]int{}
	listed := map[endpointKey]int{}
	for _, q := range v.Requests {
		listed[endpointKey{q.PID, q.Endpoint}]++
	}
	short := map[endpointKey]bool{} // endpoints that have more requests than are listed
	for i := range v.Endpoints {
		key := endpointKey{v.Endpoints[i].PID, v.Endpoints[i].Name}
		short[key] = v.Endpoints[i].Pending > listed[key]
	}
	for _, q := range v.Requests {
		if q.Peer == "" || q.Kind == "watch" || q.Held || q.Age < longAgo || q.Peer == q.Endpoint {
			continue
		}
		key := [4]string{q.Endpoint, q.Peer, q.Kind, q.Stage}
		i, known := at[key]
		if !known {
			i = len(v.Blocked)
			at[key] = i
			v.Blocked = append(v.Blocked, blocked{From: q.Endpoint, PID: q.PID, To: q.Peer, Kind: q.Kind, Stage: q.Stage,
				More: short[endpointKey{q.PID, q.Endpoint}], Peer: v.does(q.Peer, q.Kind)})
		}
		v.Blocked[i].Count++
		v.Blocked[i].Oldest = max(v.Blocked[i].Oldest, q.Age)
	}
	v.findCycles()
}

// findCycles marks the endpoints that wait in a circle.
func (v *view) findCycles() {
	waits := map[string][]string{}
	for i := range v.Blocked {
		b := &v.Blocked[i]
		waits[b.From] = append(waits[b.From], b.To)
	}
	group := circles(waits)
	for i := range v.Blocked {
		b := &v.Blocked[i]
		if b.Cycle = group[b.From] == group[b.To]; b.Cycle {
			b.Peer = "waits for it through others: a cycle"
			if slices.Contains(waits[b.To], b.From) {
				b.Peer = "waits for it, too: a cycle"
			}
		}
	}
}

// circles gives those the same number that wait for each other, themselves or through others (Tarjan's strongly connected components).
func circles(waits map[string][]string) (group map[string]int) {
	group = map[string]int{}
	var path []string
	seen, lowest := map[string]int{}, map[string]int{}
	var visit func(name string)
	visit = func(name string) {
		at := len(seen) + 1
		seen[name], lowest[name] = at, at
		path = append(path, name)
		for _, to := range waits[name] {
			if seen[to] == 0 {
				visit(to)
			}
			if group[to] == 0 { // it is on the path
				lowest[name] = min(lowest[name], lowest[to])
			}
		}
		for lowest[name] == at && group[name] == 0 {
			group[path[len(path)-1]] = at
			path = path[:len(path)-1]
		}
	}
	for name := range waits {
		if seen[name] == 0 {
			visit(name)
		}
	}
	return group
}

// does says what an endpoint does, for those who wait for it with requests of a kind.
func (v *view) does(name, kind string) string {
	for i := range v.Silent {
		if slices.Contains(v.Silent[i].Endpoints, name) {
			return "does not answer"
		}
	}
	for i := range v.Endpoints {
		if e := &v.Endpoints[i]; e.Name == name {
			switch {
			case kind == "recv" || kind == "connect":
				return "" // its receives don't matter to those
			case e.Unexpected > 0:
				return fmt.Sprintf("has %s that no receive has taken: %s with their headers, of a bound of %s without", plural(e.Unexpected, "message"),
					bytesText(float64(e.UnexpectedBytes)), bytesText(float64(e.UnexpectedBound)))
			case e.Posted == 0:
				return "has no receive posted"
			}
			return fmt.Sprintf("has %s posted", plural(e.Posted, "receive"))
		}
	}
	if slices.ContainsFunc(v.Silent, func(s silent) bool { return len(s.Endpoints) == 0 }) {
		return "does not answer, or is on another host"
	}
	return "was not found on this host"
}
