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
	pageWidth     = 11 * vg.Inch
	pageHeight    = 4.4 * vg.Inch
	pixelsPerInch = 144
	margin        = 14
	panelGap      = 26
)

var (
	background = color.RGBA{R: 0xfd, G: 0xfd, B: 0xfc, A: 0xff}
	ink        = color.RGBA{R: 0x2b, G: 0x2f, B: 0x36, A: 0xff}
	faintInk   = color.RGBA{R: 0x8a, G: 0x90, B: 0x99, A: 0xff}
	gridInk    = color.RGBA{R: 0xdd, G: 0xe0, B: 0xe4, A: 0xff}

	// seriesInks keep apart for the colour-blind too (Okabe and Ito's set); the
	// dots' shapes tell series apart where there is no colour at all.
	seriesInks = []color.Color{
		color.RGBA{R: 0x00, G: 0x72, B: 0xb2, A: 0xff},
		color.RGBA{R: 0xd5, G: 0x5e, B: 0x00, A: 0xff},
		color.RGBA{R: 0x00, G: 0x9e, B: 0x73, A: 0xff},
		color.RGBA{R: 0xcc, G: 0x79, B: 0xa7, A: 0xff},
		color.RGBA{R: 0xe6, G: 0x9f, B: 0x00, A: 0xff},
		color.RGBA{R: 0x56, G: 0xb4, B: 0xe9, A: 0xff},
	}
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
	p.Title.TextStyle = letters(p.Title.TextStyle, 14, ink)
	p.Title.TextStyle.Font.Weight = weight.WeightBold
	styleAxis(&p.X, "message size (bytes)")
	styleAxis(&p.Y, unit)
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.XOffs, p.Legend.YOffs = 12, -10
	p.Legend.Padding = 3
	p.Legend.ThumbnailWidth = 24
	p.Legend.TextStyle = letters(p.Legend.TextStyle, 11.5, ink)
	return p
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
	dots.Color, dots.Radius = ink, vg.Points(3)
	dots.Shape = seriesGlyphs[i%len(seriesGlyphs)]
}
