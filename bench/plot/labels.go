package plot

import (
	"image/color"
	"slices"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	// labelApart is how far apart the middles of two labels are at least.
	labelApart = 13
	// labelGap is between the end of a curve and its label.
	labelGap = 9
	// panelInside is about how wide and how high the part of a panel between its axes is. Labels that come somewhat closer, or
	// keep a little further away, do no harm.
	panelInside, panelInsideHeight = panelWidth - 75, panelHeight - 80
)

// label is the name of a curve, beside the end of the curve.
type label struct {
	name  string
	curve plotter.XY // where the curve ends
	at    plotter.XY // where its name stands
	ink   color.Color
}

// addLabels writes the names of curves beside their ends. The panel gets space for them right of all data, so that they lie over none. A faint
// line leads from a curve that ends before the others to its name.
func addLabels(panel *gonum.Plot, labels []label) {
	if len(labels) == 0 {
		return
	}
	style := letters(panel.X.Label.TextStyle, 11, ink)
	style.XAlign, style.YAlign = text.XLeft, text.YCenter
	var widest vg.Length
	end := labels[0].at.X
	for _, l := range labels {
		widest, end = max(widest, style.Width(l.name)), max(end, l.at.X)
	}
	space := float64((widest + labelGap + 4) / (panelInside - widest - labelGap - 4))
	panel.X.Max = max(panel.X.Max, end+space*(end-panel.X.Min))
	slices.SortStableFunc(labels, func(a, b label) int {
		switch {
		case a.at.Y < b.at.Y:
			return -1
		case a.at.Y > b.at.Y:
			return 1
		}
		return 0
	})
	separate(labels, panel.Y.Min, panel.Y.Max, (panel.Y.Max-panel.Y.Min)*labelApart/float64(panelInsideHeight))
	names := plotter.Labels{Offset: vg.Point{X: labelGap}}
	for _, l := range labels {
		if l.curve.X < end {
			panel.Add(leader(l.curve, plotter.XY{X: end, Y: l.at.Y}, l.ink))
		}
		style.Color = l.ink
		names.XYs = append(names.XYs, plotter.XY{X: end, Y: l.at.Y})
		names.Labels, names.TextStyle = append(names.Labels, l.name), append(names.TextStyle, style)
	}
	panel.Add(&names)
}

// leader is the line from the end of a curve to its name.
func leader(from, to plotter.XY, ink color.Color) *plotter.Line {
	return &plotter.Line{
		XYs:       plotter.XYs{from, to},
		LineStyle: draw.LineStyle{Color: ink, Width: 0.5, Dashes: []vg.Length{1, 3}},
	}
}

// separate moves labels, which are in the order of their heights, apart, as little as that takes, and keeps them between lowest and
// highest as far as there is space.
func separate(labels []label, lowest, highest, apart float64) {
	for range 100 * len(labels) {
		moved := false
		for i := 1; i < len(labels); i++ {
			if lack := apart - (labels[i].at.Y - labels[i-1].at.Y); lack > apart/1000 {
				labels[i-1].at.Y -= lack / 2
				labels[i].at.Y += lack / 2
				moved = true
			}
		}
		for i := range labels {
			labels[i].at.Y = min(max(labels[i].at.Y, lowest), highest)
		}
		if !moved {
			return
		}
	}
}

// write writes the caption onto the page, above the panels.
func (c Caption) write(area draw.Canvas) {
	style := letters(gonum.New().Title.TextStyle, 14, ink)
	style.XAlign, style.YAlign = text.XLeft, text.YTop
	at := vg.Point{X: area.Min.X + margin, Y: area.Max.Y - margin + 2}
	area.FillText(bold(style), at, c.Title)
	at.Y -= 20
	for _, note := range c.Notes {
		area.FillText(letters(style, 10, faintText), at, note)
		at.Y -= noteHeight
	}
}

const (
	titleHeight = 24
	noteHeight  = 13
)

// height is how much of the page the caption takes.
func (c Caption) height() vg.Length {
	if c.Title == "" && len(c.Notes) == 0 {
		return 0
	}
	return titleHeight + vg.Length(len(c.Notes))*noteHeight
}
