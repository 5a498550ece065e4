package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	gonum "gonum.org/v1/plot"
)

// Panel is one figure of a picture over something else than message size. Its
// values are the LatencyUs of the points, whatever Unit says they are, over their
// Length.
type Panel struct {
	Title, Unit string
	Series      []Series
}

// DrawPanels draws figures over the quantity that axis names, two side by side, into a new file as Draw does. Both axes are
// logarithmic. Ticks are powers of ten, with 2 and 5 times those where there are few; with Bytes as the axis those of message sizes.
func DrawPanels(path string, caption Caption, axis string, panels []Panel) error {
	if err := CheckPath(path); err != nil {
		return err
	}
	var drawn []*gonum.Plot
	for _, p := range panels {
		panel, err := newPanel(axis, p.Title, p.Unit, p.Series, func(p Point) float64 { return p.LatencyUs })
		if err != nil {
			return fmt.Errorf("plot %q: %s: %w", path, p.Title, err)
		}
		drawn = append(drawn, panel)
	}
	return write(path, caption, drawn)
}

// Bytes is the axis of message sizes.
const Bytes = "message size"

// decades labels the powers of ten between two logarithms, and 2 and 5 times those where there are not many.
func decades(lowest, highest float64) (ticks []gonum.Tick) {
	few := highest-lowest < crowdedNumbers*math.Ln10 && highest < wideNumbers*math.Ln10
	for power := range 12 {
		for _, digit := range []int{1, 2, 5} {
			at := float64(power)*math.Ln10 + math.Log(float64(digit))
			if at < lowest || at > highest {
				continue
			}
			tick := gonum.Tick{Value: at}
			if few || digit == 1 {
				tick.Label = grouped(digit, power)
			}
			ticks = append(ticks, tick)
		}
	}
	return ticks
}

// crowdedNumbers is how many decades are too many to label 2 and 5 in each as well, and wideNumbers the one whose numbers are too
// wide for that.
const (
	crowdedNumbers = 2.8
	wideNumbers    = 3
)

// grouped is a digit times a power of ten, with commas: 10,000.
func grouped(digit, power int) string {
	digits := strconv.Itoa(digit) + strings.Repeat("0", power)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
