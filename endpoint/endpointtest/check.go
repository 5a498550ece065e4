package endpointtest

import (
	"fmt"

	"gomx/endpoint"
)

// Leftovers says what a history that has ended should not have left in a node:
// requests, messages, frames that are kept, memory exported, timers. Empty: all
// is clean.
func (w *World) Leftovers(n *Node) []string {
	d := n.Engine.Depths()
	var left []string
	for _, c := range []struct {
		what string
		n    int
	}{
		{"requests", d.Requests}, {"posted receives", d.Posted}, {"unexpected messages", d.Unexpected},
		{"claimed messages", d.Claimed}, {"unexpected bytes", d.Bytes}, {"uncollected completions", d.Completed}, {"pulls", d.Pulls},
		{"kept frames", d.Kept}, {"early frames", d.Early}, {"exported buffers", w.exported(n)},
	} {
		if c.n != 0 {
			left = append(left, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	if w.strays > 0 {
		left = append(left, fmt.Sprintf("%d memory descriptors used on another link", w.strays))
	}
	if n.Engine.Backlog() {
		left = append(left, "a backlog")
	}
	if due := n.Engine.NextDue(); due != endpoint.Never {
		left = append(left, fmt.Sprintf("something due in %d ticks", due-w.Now))
	}
	return left
}

func (w *World) exported(n *Node) int {
	sum := 0
	for _, l := range w.Links {
		for i := range l.ends {
			if l.ends[i].node == n && !l.Dead {
				sum += l.ends[i].live
			}
		}
	}
	return sum
}
