package plot

import (
	"image/color"

	weight "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	gonum "gonum.org/v1/plot"
)

const (
	panelWidth    = 5.6 * vg.Inch
	panelHeight   = 4.1 * vg.Inch
	pixelsPerInch = 144
	margin        = 14
	panelGap      = 26
)

var (
	background = rgb(0xfdfdfc)
	ink        = rgb(0x2b2f36)
	faintText  = rgb(0x5a616b)
	faintInk   = rgb(0x8a9099)
	gridInk    = rgb(0xdde0e4)

	// seriesInks keep apart for the colour-blind too (near to Okabe and Ito's set), and are dark enough for letters; the
	// dots' shapes tell series apart where there is no colour at all.
	seriesInks   = []color.RGBA{rgb(0x0072b2), rgb(0xc24e00), rgb(0x007f5c), rgb(0xa8478a), rgb(0x8a6d00), rgb(0x4b4f58)}
	seriesGlyphs = []draw.GlyphDrawer{
		draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{},
		draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{},
	}
)

func styledPlot(title, unit string) *gonum.Plot {
	p := gonum.New()
	p.BackgroundColor = background
	p.Title.Text = title
	p.Title.Padding = 8
	p.Title.TextStyle = bold(letters(p.Title.TextStyle, 12, ink))
	styleAxis(&p.X, Bytes)
	p.X.Tick.Label.Font.Size = 9.5 // so that 32 KiB and 256 KiB do not touch
	styleAxis(&p.Y, unit)
	return p
}

func bold(style text.Style) text.Style {
	style.Font.Weight = weight.WeightBold
	return style
}

func styleAxis(axis *gonum.Axis, label string) {
	axis.Label.Text = label
	axis.Label.Padding = 6
	axis.Label.TextStyle = letters(axis.Label.TextStyle, 11.5, ink)
	axis.Tick.Label = letters(axis.Tick.Label, 10.5, ink)
	axis.LineStyle.Color, axis.Tick.LineStyle.Color = faintInk, faintInk
	axis.Padding = 0
}

func letters(style text.Style, size font.Length, ink color.Color) text.Style {
	style.Color = ink
	style.Font.Variant = "Sans"
	style.Font.Size = size
	return style
}

func grid() *plotter.Grid {
	lines := plotter.NewGrid()
	lines.Vertical.Color, lines.Horizontal.Color = gridInk, gridInk
	return lines
}

func styleSeries(line *plotter.Line, dots *plotter.Scatter, i int) {
	ink := seriesInks[i%len(seriesInks)]
	line.Color, line.Width = ink, vg.Points(2)
	if i/len(seriesInks)%2 == 1 {
		line.Dashes = []vg.Length{6, 3}
	}
	dots.Color, dots.Radius = ink, vg.Points(3)
	dots.Shape = seriesGlyphs[i%len(seriesGlyphs)]
}
