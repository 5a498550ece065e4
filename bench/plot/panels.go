package plot

import (
	"errors"
	"fmt"
	"math"
	"os"
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
// new file as Draw does. Lines are named in the first panel. Both axes are
// logarithmic.
func DrawPanels(path, axis string, panels []Panel) error {
	if err := CheckPath(path); err != nil {
		return err
	}
	var drawn []*gonum.Plot
	for i, p := range panels {
		panel, err := newPanel(p.Title, p.Unit, p.Series, func(p Point) float64 { return p.LatencyUs })
		if err != nil {
			return fmt.Errorf("plot %q: %s: %w", path, p.Title, err)
		}
		panel.X.Label.Text = axis
		panel.X.Tick.Marker = gonum.ConstantTicks(decades(panel.X.Min, panel.X.Max))
		if i > 0 {
			panel.Legend = gonum.NewLegend()
		}
		drawn = append(drawn, panel)
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	_, err = sideBySide(drawn, endingOf(path)).WriteTo(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(fmt.Errorf("plot: %w", err), os.Remove(path))
	}
	return nil
}

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
