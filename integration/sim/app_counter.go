package sim

import "gomx/endpoint"

// A program has a completion counter, which counts the puts that peers write to its windows, and a threshold of it pending all the time. None of
// this draws random numbers.

// everyPuts is how many puts a program waits for by a threshold.
const everyPuts = 3

type puts struct {
	counter   endpoint.QueueID
	threshold endpoint.Handle
	next      uint64 // where the threshold is
}

func (n *node) beginCounter() {
	n.puts = puts{counter: n.engine.OpenCounter()}
	n.steps = n.engine.OpenCounter()
	n.counted = counted{counter: n.engine.OpenCounter()}
	n.nextThreshold()
}

func (n *node) nextThreshold() {
	n.puts.next += everyPuts
	n.countThreshold(n.puts.next)
	n.puts.threshold = n.engine.Threshold(n.puts.counter, n.puts.next, 0, nil)
	if err := n.engine.Enqueue(n.puts.threshold, endpoint.Private); err != nil {
		n.w.fail(n, "enqueue a threshold: %v", err)
	}
}

func (n *node) countPuts(win *window) {
	if !n.engine.CountPuts(win.id, n.puts.counter) {
		n.w.fail(n, "the puts of an open window are not counted")
	}
}

// checkCounter looks whether the counter has counted what the windows have, and whether its threshold is complete when it should be.
func (n *node) checkCounter() {
	if n.puts.threshold == 0 {
		return
	}
	all, failures := n.engine.Counts(n.puts.counter)
	known := uint64(0)
	for _, win := range n.windows {
		if !win.free {
			win.puts, _ = n.engine.WindowUse(win.id)
		}
		known += win.puts
	}
	if all < known || len(n.windows) < 2 && all != known || failures > 0 {
		n.w.fail(n, "a counter of puts stands at %d and %d, of %d", all, failures, known)
	}
	for n.passThreshold(all) {
	}
}

// passThreshold goes on to the next threshold if this one is reached, and reports whether it was.
func (n *node) passThreshold(all uint64) bool {
	var st endpoint.Status
	done, err := n.engine.Test(n.puts.threshold, &st)
	if err != nil || done && st.Code != endpoint.Success || done != (all >= n.puts.next) {
		n.w.fail(n, "a threshold of %d at %d: done %v, %v, %v", n.puts.next, all, done, st.Code, err)
		return false
	}
	if done {
		n.nextThreshold()
	}
	return done
}

// endCounter takes the threshold back.
func (n *node) endCounter() {
	n.checkCounter()
	if gone, err := n.engine.Cancel(n.puts.threshold); !gone || err != nil {
		n.w.fail(n, "a threshold can't be cancelled: %v, %v", gone, err)
	}
	n.puts.threshold = 0
	n.endSteps()
	n.engine.CloseQueue(n.counted.counter)
}
