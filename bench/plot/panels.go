package plot

import (
	"fmt"
	"math"
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

// DrawPanels draws figures side by side over the quantity that axis names, into a
// new file as Draw does. Both axes are logarithmic. Ticks are powers of ten, or with Bytes as the axis those of message sizes.
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

// decades labels the powers of ten between two logarithms.
func decades(lowest, highest float64) (ticks []gonum.Tick) {
	for power := 0; power < 12; power++ {
		if at := float64(power) * math.Ln10; at >= lowest && at <= highest {
			ticks = append(ticks, gonum.Tick{Value: at, Label: grouped(power)})
		}
	}
	return ticks
}

// grouped is a power of ten with commas: 10,000.
func grouped(power int) string {
	digits := "1" + strings.Repeat("0", power)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
