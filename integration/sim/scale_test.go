package sim

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"gomx/bench/machine"
	"gomx/bench/plot"
	"gomx/transport/wire"
)

var (
	scaleTable   = flag.String("sim.table", "", "TestScale: write the table of the scale run to this file, as markdown")
	scalePicture = flag.String("sim.picture", "", "TestScale: draw the picture of the scale run into this file, .svg or .png")
)

// The media of the scale run: one that needs nothing of the engine, and one that
// makes it keep what it sends.
var (
	scaleSafe    = wire.Caps{Name: "safe", MaxFrame: 2048, Eager: 2048, Ordered: true, Reliable: true}
	scaleHealing = wire.Caps{Name: "healing", MaxFrame: 2048, Eager: 2048, Ordered: true, Reliable: true, Heals: true}
)

// scaleFigures are those of one crowd.
type scaleFigures struct {
	endpoints, peers int
	perEndpoint      float64 // bytes of an engine that has talked to itself only
	perPeer          float64 // bytes of one side's knowledge of one peer, link included
	send, receive    float64 // ns of a message, many in a row
	cold             float64 // ns of a message, sent and received, one alone at each endpoint
	frames           float64 // of a message
	probes           float64 // of a message: looks at posted receives
	allocs           float64 // of a message
	tick             float64 // ns of an engine that is told the time, while its peers are used
}

const (
	manyInARow    = 64
	scaleMessages = 500_000
	warmBursts    = 4
)

// measureScale makes a crowd and measures it over so many messages.
func measureScale(endpoints int, star bool, caps wire.Caps, messages int) (f scaleFigures, err error) {
	empty := heap()
	c := newCrowd(endpoints, caps)
	if err := c.toSelf(); err != nil {
		return f, err
	}
	alone := heap()
	f.endpoints, f.perEndpoint = endpoints, float64(alone-empty)/float64(endpoints)
	join := c.sparse
	if star {
		join = c.star
	}
	if err := join(); err != nil {
		return f, err
	}
	c.tick()
	f.peers = c.members[0].engine.Peers() - 1
	var w, cold work
	if err := c.rounds(1, &w); err != nil { // each relation has had a message
		return f, err
	}
	f.perPeer = float64(heap()-alone) / float64(c.ends)
	c.quiet()
	if err := c.rounds(manyInARow, &w); err != nil { // what is allocated once is there
		return f, err
	}
	// The collector's pauses grow with all the engines together, which no process of
	// the real world has.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	number, before := 0, mallocs()
	for w = (work{}); w.messages < messages; number++ {
		if err := c.round(number, manyInARow, warmBursts, &w); err != nil {
			return f, err
		}
	}
	f.allocs = float64(mallocs()-before) / float64(w.messages*(1+warmBursts))
	f.send = float64(w.send.Nanoseconds()) / float64(w.messages)
	f.receive = float64(w.receive.Nanoseconds()) / float64(w.messages)
	f.frames = float64(w.frames) / float64(w.messages)
	c.quiet()
	for ; cold.messages < messages/10; number++ {
		if err := c.round(number, 1, 0, &cold); err != nil {
			return f, err
		}
	}
	f.cold = float64((cold.send + cold.receive).Nanoseconds()) / float64(cold.messages)
	var probes, arrivals uint64
	for _, m := range c.members {
		d := m.engine.Depths()
		probes, arrivals = probes+d.PostedProbes, arrivals+d.Arrivals
	}
	f.probes = float64(probes) / float64(arrivals)
	ticks := 1 + 20_000/endpoints
	began := time.Now()
	for range ticks {
		for _, m := range c.members {
			m.engine.NextDue()
		}
		c.tick()
	}
	f.tick = float64(time.Since(began).Nanoseconds()) / float64(ticks*endpoints)
	return f, nil
}

var scaleSizes = []int{10, 100, 1000, 10_000}

var scaleShapes = []struct {
	name string
	star bool
	caps wire.Caps
}{
	{"sparse, safe", false, scaleSafe},
	{"sparse, healing", false, scaleHealing},
	{"many to one, safe", true, scaleSafe},
	{"many to one, healing", true, scaleHealing},
}

// BenchmarkScale measures messages among more and more endpoints: each with 16
// peers, and all with one. The cost of the queue between the engines, which is the
// same at all sizes, is part of it.
func BenchmarkScale(b *testing.B) {
	for _, shape := range scaleShapes {
		for _, n := range scaleSizes {
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(shape.name, " ", "_"), n), func(b *testing.B) {
				var f scaleFigures
				var err error
				for b.Loop() {
					if f, err = measureScale(n, shape.star, shape.caps, scaleMessages); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(f.perEndpoint, "B/endpoint")
				b.ReportMetric(f.perPeer, "B/peer")
				b.ReportMetric(f.send, "ns/send")
				b.ReportMetric(f.receive, "ns/receive")
				b.ReportMetric(f.cold, "ns/cold-message")
				b.ReportMetric(f.frames, "frames/message")
				b.ReportMetric(f.probes, "probes/message")
				b.ReportMetric(f.allocs, "allocs/message")
				b.ReportMetric(f.tick, "ns/tick")
			})
		}
	}
}

// TestScale writes the table of the scale run, if a flag asks for it. Otherwise it plays the smallest crowds, to see that they work.
func TestScale(t *testing.T) {
	sizes, messages := scaleSizes, scaleMessages
	if *scaleTable == "" && *scalePicture == "" {
		sizes, messages = sizes[:2], 20_000
	}
	var table strings.Builder
	table.WriteString("| endpoints | peers each | B an endpoint | B a peer | ns a send | ns a receive | ns a cold message | frames | probes | allocations | ns a tick |\n")
	table.WriteString("|---|---|---|---|---|---|---|---|---|---|---|\n")
	var bytes, cost []plot.Series
	for _, shape := range scaleShapes {
		memory, ns := plot.Series{Name: shape.name}, plot.Series{Name: shape.name}
		fmt.Fprintf(&table, "| **%s** | | | | | | | | | | |\n", shape.name)
		for _, n := range sizes {
			f, err := measureScale(n, shape.star, shape.caps, messages)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&table, "| %d | %d | %.0f | %.0f | %.1f | %.1f | %.0f | %.3f | %.3f | %.3f | %.0f |\n", n, f.peers,
				f.perEndpoint, f.perPeer, f.send, f.receive, f.cold, f.frames, f.probes, f.allocs, f.tick)
			memory.Points = append(memory.Points, plot.Point{Length: n, LatencyUs: f.perPeer})
			ns.Points = append(ns.Points, plot.Point{Length: n, LatencyUs: f.send + f.receive})
		}
		bytes, cost = append(bytes, memory), append(cost, ns)
	}
	t.Log("\n" + table.String())
	if *scaleTable != "" {
		if err := os.WriteFile(*scaleTable, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if *scalePicture != "" {
		err := plot.DrawPanels(*scalePicture, plot.Caption{
			Title: "Engines of 10 to 10,000 endpoints in one goroutine",
			Notes: []string{machine.Origin()},
		}, "endpoints", []plot.Panel{
			{Title: "Work", Unit: "ns of a message, sent and received", Series: cost},
			{Title: "Memory", Unit: "bytes of a peer", Series: bytes},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
