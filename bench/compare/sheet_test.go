package main

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"gomx/bench/stats"
)

// filled is a report as a comparison with one peer makes it; the second peer
// failed throughout.
func filled() *report {
	r := &report{rounds: 3, versions: map[string]string{}, when: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)}
	us := func(v float64) *stats.Summary { return &stats.Summary{P50: v} }
	for _, j := range []job{
		{medium: shm, quantity: "latency", lengths: []int{0, 4096}},
		{medium: shm, quantity: "posted", lengths: []int{8}},
		{medium: shm, quantity: "posted", lengths: []int{8}, posted: 16384},
		{medium: shm, quantity: "alloc", lengths: []int{65536}},
		{medium: shm, quantity: "alloc", lengths: []int{65536}, alloc: true},
	} {
		sheet := r.sheet(j.medium, j.quantity)
		for i, subject := range []string{"gomx", "openmpi", "mpich"} {
			if j.quantity == "alloc" && i > 0 {
				continue
			}
			sheet.reserve(j, subject)
			if subject == "mpich" {
				continue
			}
			for _, drift := range []float64{0, 3, 1} {
				for _, length := range j.lengths {
					v := float64(i+1)*(1+float64(j.posted)*float64(i)/16384*9) + drift
					if j.alloc {
						v /= 2
					}
					rec := record{Length: length, Latency: us(v)}
					sheet.add(place(j, rec, subject), rec.value(j))
				}
			}
		}
	}
	return r
}

func TestSheet(t *testing.T) {
	r := filled()
	latency := r.sheet(shm, "latency")
	if got := latency.median("4 KiB", "gomx"); got != 2 {
		t.Errorf("median %v, want 2", got)
	}
	if got := latency.ratio("4 KiB", "openmpi"); math.Abs(got-2.0/3) > 1e-9 {
		t.Errorf("ratio %v, want 2/3", got)
	}
	if got := latency.ratio("4 KiB", "mpich"); !math.IsNaN(got) {
		t.Errorf("ratio with what failed %v, want NaN", got)
	}
	if got := r.sheet(shm, "posted").deepening("openmpi"); got != 7 {
		t.Errorf("posted deep / none %v, want 7", got)
	}
	if got := r.sheet(shm, "alloc").ratio("64 KiB", "ordinary"); got != 2 {
		t.Errorf("mx.Alloc / ordinary %v, want 2", got)
	}
}

func TestRestlessness(t *testing.T) {
	r := filled()
	const want = "9 of 10 figures varied more than 2x between rounds (most: shm latency 0 B of gomx from 1.000 to 4.000 us): was the machine busy?"
	if got := r.restlessness(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := (&report{}).restlessness(); got != "" {
		t.Errorf("an empty report: %s", got)
	}
}

const wantTable = `
Half round trip over shared memory, us (below 1: gomx is ahead)
   length    gomx   openmpi   mpich   gomx / openmpi   gomx / mpich
      0 B   2.000     3.000       -             0.67              -
    4 KiB   2.000     3.000       -             0.67              -

Half round trip of 8 B behind receives that don't match, us (below 1: gomx is ahead)
        posted     gomx   openmpi   mpich   gomx / openmpi   gomx / mpich
          none    2.000     3.000       -             0.67              -
         16384    2.000     21.00       -             0.10              -
   deep / none   1.00 x    7.00 x       -                                

Bandwidth of mx.Alloc and ordinary buffers, gomx, MB/s (above 1: mx.Alloc is ahead)
   length   mx.Alloc   ordinary   mx.Alloc / ordinary
   64 KiB      65536      32768                  2.00
`

func TestTables(t *testing.T) {
	var out bytes.Buffer
	if err := writeTables(&out, filled()); err != nil {
		t.Fatal(err)
	}
	heading, tables, _ := strings.Cut(out.String(), "\n")
	if !strings.HasPrefix(heading, "Medians of 3 rounds in turn, processes pinned to cores 0,0; ") || !strings.HasSuffix(heading, "; 2026-01-02.") {
		t.Errorf("heading %q", heading)
	}
	if tables != wantTable {
		t.Errorf("got:\n%s\nwant:\n%s", tables, wantTable)
	}
}

func TestMarkdown(t *testing.T) {
	var out bytes.Buffer
	if err := writeMarkdown(&out, filled()); err != nil {
		t.Fatal(err)
	}
	const want = `
Half round trip over shared memory, us (ratio below 1: gomx is ahead):

| length | gomx | openmpi | mpich | gomx / openmpi | gomx / mpich |
|---|---:|---:|---:|---:|---:|
| 0 B | 2.000 | 3.000 | - | 0.67 | - |
| 4 KiB | 2.000 | 3.000 | - | 0.67 | - |
`
	if !strings.Contains(out.String(), want) {
		t.Errorf("not there:\n%s\nin:\n%s", want, out.String())
	}
}

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	if err := writeJSON(&out, filled()); err != nil {
		t.Fatal(err)
	}
	const want = `{"medium":"shm","quantity":"latency","line":"0 B","length":0,"unit":"us","better":"lower",` +
		`"median":{"gomx":2,"openmpi":3},"ratio":{"openmpi":0.6666666666666666},"rounds":{"gomx":[1,4,2],"openmpi":[2,5,3]}}`
	if first, _, _ := strings.Cut(out.String(), "\n"); first != want {
		t.Errorf("got  %s\nwant %s", first, want)
	}
}

func TestPicture(t *testing.T) {
	series := filled().sheet(shm, "latency").picture()
	if len(series) != 2 || series[0].Name != "gomx" || len(series[0].Points) != 2 {
		t.Fatalf("got %+v", series)
	}
	if p := series[1].Points[1]; p.Length != 4096 || p.LatencyUs != 3 || p.BandwidthMBps != 4096.0/3 {
		t.Errorf("point %+v", p)
	}
}

func TestFigures(t *testing.T) {
	for v, want := range map[float64]string{0.1234: "0.123", 9.8765: "9.877", 12.345: "12.35", 196.41: "196.4", 21345.6: "21346", math.NaN(): "-"} {
		if got := figure(v); got != want {
			t.Errorf("figure(%v) = %s, want %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{0.00268: "0.0027", 0.5: "0.50", 1.234: "1.23", 44.04: "44.0", math.NaN(): "-"} {
		if got := ratioWord(v); got != want {
			t.Errorf("ratioWord(%v) = %s, want %s", v, got, want)
		}
	}
	for v, want := range map[int]string{0: "0 B", 8: "8 B", 1000: "1000 B", 4096: "4 KiB", 2 << 20: "2 MiB", 3 << 9: "1536 B"} {
		if got := sizeName(v); got != want {
			t.Errorf("sizeName(%d) = %s, want %s", v, got, want)
		}
	}
}
