package plot

import (
	"fmt"
	"math"
	"strconv"

	gonum "gonum.org/v1/plot"
)

// zeroGap is how far left of the smallest other size messages without bytes
// stand, as a factor: a logarithmic axis has no place for 0 of its own.
const zeroGap = 4

// scale is the part of a logarithmic axis that a panel shows.
type scale struct {
	lowest, highest float64
	zeroAt          float64 // where length 0 stands; 0 if there is none
	mark            func(scale) []gonum.Tick
}

func (s scale) empty() bool { return s.highest == 0 }

func (s scale) ticks() []gonum.Tick { return s.mark(s) }

// apply makes axis show the scale. The axis itself is linear, over logarithms:
// a gonum axis with a logarithmic scale mistakes where its own label stands, and
// shrinks the panel so that it fits.
func (s scale) apply(axis *gonum.Axis) {
	axis.Min, axis.Max = math.Log(s.lowest), math.Log(s.highest)
	ticks := s.ticks()
	for i := range ticks {
		ticks[i].Value = math.Log(ticks[i].Value)
	}
	axis.Tick.Marker = gonum.ConstantTicks(ticks)
}

// place is where a length stands on a size axis.
func (s scale) place(length int) float64 {
	if length == 0 {
		return s.zeroAt
	}
	return float64(length)
}

func shown(p Point, v float64) bool {
	return p.Length >= 0 && v > 0 && !math.IsInf(v, 0)
}

// sizeScale spans the lengths of all series that have the figure.
func sizeScale(series []Series, figure func(Point) float64) scale {
	lowest, highest, zero := math.Inf(1), 0.0, false
	for _, s := range series {
		for _, p := range s.Points {
			if !shown(p, figure(p)) {
				continue
			}
			if p.Length == 0 {
				zero = true
				continue
			}
			lowest, highest = min(lowest, float64(p.Length)), max(highest, float64(p.Length))
		}
	}
	result := scale{mark: sizeTicks}
	switch {
	case highest == 0 && !zero:
		return result
	case highest == 0:
		lowest, highest = zeroGap, zeroGap
	}
	if zero {
		lowest /= zeroGap
		result.zeroAt = lowest
	}
	// Air on both sides, so that the outermost dots are whole.
	result.lowest, result.highest = lowest/1.5, highest*1.5
	return result
}

// crowdedSizes is how many powers of two are too many to label every third of them.
const crowdedSizes = 26

// sizeTicks labels every third power of two, as sizes are usually read out, or every sixth where they would touch, and
// marks those between.
func sizeTicks(s scale) []gonum.Tick {
	var ticks []gonum.Tick
	labelled := 3
	if s.highest/s.lowest > 1<<crowdedSizes {
		labelled = 6
	}
	if s.zeroAt > 0 {
		ticks = append(ticks, gonum.Tick{Value: s.zeroAt, Label: "0 B"})
	}
	for power := 0; float64(int(1)<<power) <= s.highest && power < 62; power++ {
		size := float64(int(1) << power)
		if size < s.lowest || (s.zeroAt > 0 && size < s.zeroAt*zeroGap) {
			continue
		}
		tick := gonum.Tick{Value: size}
		if power%labelled == 0 {
			tick.Label = sizeLabel(1 << power)
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// sizeLabel is a power of two as sizes are written: 512 B, 4 KiB, 2 MiB, 1 GiB.
func sizeLabel(size int) string {
	for _, unit := range []struct {
		shift int
		name  string
	}{{30, " GiB"}, {20, " MiB"}, {10, " KiB"}} {
		if size >= 1<<unit.shift {
			return strconv.Itoa(size>>unit.shift) + unit.name
		}
	}
	return strconv.Itoa(size) + " B"
}

// valueScale spans the figures of all series, out to the next 1, 2 or 5.
func valueScale(series []Series, figure func(Point) float64) scale {
	lowest, highest := math.Inf(1), 0.0
	for _, s := range series {
		for _, p := range s.Points {
			if v := figure(p); shown(p, v) {
				lowest, highest = min(lowest, v), max(highest, v)
			}
		}
	}
	if highest == 0 {
		return scale{mark: valueTicks}
	}
	return scale{lowest: stepBelow(lowest * 0.95), highest: stepAbove(highest * 1.05), mark: valueTicks}
}

// steps are the labelled places of a decade; 10 is the next one's first.
var steps = []float64{1, 2, 5, 10}

func stepBelow(v float64) float64 {
	decade := math.Pow(10, math.Floor(math.Log10(v)))
	best := decade
	for _, step := range steps {
		if step*decade <= v {
			best = step * decade
		}
	}
	return best
}

func stepAbove(v float64) float64 {
	decade := math.Pow(10, math.Floor(math.Log10(v)))
	for _, step := range steps {
		if step*decade >= v {
			return step * decade
		}
	}
	return 10 * decade
}

// crowded is how many decades are too many to label 2 and 5 in each as well.
const crowded = 4.5

// valueTicks labels 1, 2 and 5 of every decade, or 1 alone where they would
// touch, and marks the rest.
func valueTicks(s scale) []gonum.Tick {
	sparse := math.Log10(s.highest/s.lowest) > crowded
	var ticks []gonum.Tick
	first, last := math.Floor(math.Log10(s.lowest)), math.Ceil(math.Log10(s.highest))
	for exponent := first; exponent <= last; exponent++ {
		for step := 1; step <= 9; step++ {
			value := float64(step) * math.Pow(10, exponent)
			// Rounding must not lose the ticks at the very ends.
			if value < s.lowest*(1-1e-9) || value > s.highest*(1+1e-9) {
				continue
			}
			tick := gonum.Tick{Value: value}
			if step == 1 || (!sparse && (step == 2 || step == 5)) {
				tick.Label = valueLabel(value)
			}
			ticks = append(ticks, tick)
		}
	}
	return ticks
}

// valueLabel writes a figure without an exponent where that stays short.
func valueLabel(v float64) string {
	if v >= 1e6 || v < 1e-3 {
		return fmt.Sprintf("%.0e", v)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
