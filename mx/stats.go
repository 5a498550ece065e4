package mx

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"gomx/internal/labels"
	"gomx/mx/internal/live"
)

// statistics is what MX_STATS asks for.
type statistics struct {
	atClose bool
	every   time.Duration // 0: never
	asked   bool          // for each SIGUSR1
	text    string
}

// leastStats is the shortest time between two statistics.
const leastStats = 10 * time.Millisecond

// set reads MX_STATS.
func (s *statistics) set(text string) error {
	*s = statistics{text: text}
	if text == logOff {
		return nil
	}
	for word := range strings.SplitSeq(text, ",") {
		switch word {
		case "close":
			s.atClose = true
		case "usr1":
			s.asked = true
		default:
			if setDuration(&s.every, word, checkStats) != nil {
				return fmt.Errorf("want off, or some of close, usr1 and a duration from %v such as 10s, with commas", leastStats)
			}
		}
	}
	return nil
}

func checkStats(d time.Duration) error {
	if d < leastStats {
		return errors.New("it is too short")
	}
	return nil
}

// statsOut is one writer at a time.
var statsOut = struct {
	sync.Mutex
	io.Writer
}{Writer: os.Stderr}

// WriteStats writes the counters of an endpoint that are not 0, as MX_STATS does: a line for the endpoint, one for each counter.
// The error is that of w. Safe from any goroutine, also after Close.
func (ep *Endpoint) WriteStats(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "mx: %v, pid %d, after %v\n", ep, os.Getpid(), time.Since(ep.opened).Round(time.Millisecond))
	for _, c := range ep.Counters() {
		if c.Value != 0 {
			fmt.Fprintf(&b, "    %s: %d\n", c.Label, c.Value)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (ep *Endpoint) printStats() {
	statsOut.Lock()
	defer statsOut.Unlock()
	_ = ep.WriteStats(statsOut.Writer) // nobody is left to hear of an error
}

// beginStats prints statistics every so often, and when the process is asked to, until the endpoint has closed.
func (ep *Endpoint) beginStats(s statistics) {
	ep.stats = s
	if s.every == 0 && !s.asked {
		return
	}
	ep.statsEnd = make(chan struct{})
	var asked <-chan os.Signal
	stop := func() {}
	if s.asked {
		asked, stop, _ = live.OnUser1()
	}
	go func() {
		labels.ForEndpoint("statistics", ep.id).Set()
		defer stop()
		var every <-chan time.Time
		if s.every > 0 {
			t := time.NewTicker(s.every)
			defer t.Stop()
			every = t.C
		}
		for {
			select {
			case <-every:
			case <-asked:
			case <-ep.statsEnd:
				return
			}
			ep.printStats()
		}
	}()
}

// endStats prints the last statistics of an endpoint that has closed.
func (ep *Endpoint) endStats() {
	if ep.statsEnd != nil {
		close(ep.statsEnd)
	}
	if ep.stats.atClose {
		ep.printStats()
	}
}
