package plot

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Point is what was measured with messages of one length. A figure that is not
// positive and finite is not drawn; a message without bytes has no bandwidth.
type Point struct {
	Length        int     // bytes, 0 or more
	LatencyUs     float64 // half round trip, microseconds
	BandwidthMBps float64 // 10^6 bytes per second
}

// Series is one line of the picture: a name for the legend, and points in the
// order in which they are joined.
type Series struct {
	Name   string
	Points []Point
}

// ErrNothingToDraw says that no series has a latency to show.
var ErrNothingToDraw = errors.New("nothing to draw")

// CheckPath says whether Draw can write a file of that name: nil for .svg and
// .png, otherwise an error that names the endings it knows. It lets a program
// refuse a name before it measures for minutes.
func CheckPath(path string) error {
	switch endingOf(path) {
	case ".svg", ".png":
		return nil
	}
	return fmt.Errorf("plot %q: the name must end in .svg or .png", path)
}

// Draw draws series into a new file, in the form that the path's ending asks
// for (see CheckPath). It returns ErrNothingToDraw, or what went wrong with the
// file; then there is no file left that it began.
func Draw(path string, series []Series) error {
	if err := CheckPath(path); err != nil {
		return err
	}
	page, err := newPage(series, endingOf(path))
	if err != nil {
		return fmt.Errorf("plot %q: %w", path, err)
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	_, err = page.WriteTo(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(fmt.Errorf("plot: %w", err), os.Remove(path))
	}
	return nil
}

func endingOf(path string) string { return strings.ToLower(filepath.Ext(path)) }

// newPage draws both panels on a canvas that can write itself as ending says.
func newPage(series []Series, ending string) (io.WriterTo, error) {
	latency, err := newPanel("Latency", "half round trip (µs)", series, func(p Point) float64 { return p.LatencyUs })
	if err != nil {
		return nil, err
	}
	bandwidth, err := newPanel("Bandwidth", "MB/s", series, func(p Point) float64 { return p.BandwidthMBps })
	if err != nil && !errors.Is(err, ErrNothingToDraw) {
		return nil, err
	}
	panels := []*gonum.Plot{latency}
	if bandwidth != nil {
		// The lines are named once, in the first panel.
		bandwidth.Legend = gonum.NewLegend()
		panels = append(panels, bandwidth)
	}
	return sideBySide(panels, ending), nil
}

// sideBySide draws panels on a canvas that can write itself as ending says.
func sideBySide(panels []*gonum.Plot, ending string) io.WriterTo {
	canvas, page := newCanvas(ending)
	area := draw.New(canvas)
	area.FillPolygon(background, []vg.Point{
		area.Min, {X: area.Max.X, Y: area.Min.Y}, area.Max, {X: area.Min.X, Y: area.Max.Y},
	})
	tiles := draw.Tiles{
		Rows: 1, Cols: len(panels), PadX: panelGap,
		PadTop: margin, PadBottom: margin, PadLeft: margin, PadRight: margin,
	}
	for i, panel := range panels {
		panel.Draw(tiles.At(area, i, 0))
	}
	return page
}

func newCanvas(ending string) (vg.CanvasSizer, io.WriterTo) {
	if ending == ".svg" {
		canvas := vgsvg.New(pageWidth, pageHeight)
		return canvas, canvas
	}
	canvas := vgimg.NewWith(vgimg.UseWH(pageWidth, pageHeight), vgimg.UseDPI(pixelsPerInch))
	return canvas, vgimg.PngCanvas{Canvas: canvas}
}

// newPanel draws one figure over size, with both axes wide enough for all
// series. It returns ErrNothingToDraw if no point has that figure.
func newPanel(title, unit string, series []Series, figure func(Point) float64) (*gonum.Plot, error) {
	sizes, values := sizeScale(series, figure), valueScale(series, figure)
	if sizes.empty() || values.empty() {
		return nil, ErrNothingToDraw
	}
	panel := styledPlot(title, unit)
	sizes.apply(&panel.X)
	values.apply(&panel.Y)
	panel.Add(grid())
	for i, s := range series {
		points := drawable(s, sizes, figure)
		if len(points) == 0 {
			continue
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, err
		}
		styleSeries(line, dots, i)
		panel.Add(line, dots)
		panel.Legend.Add(s.Name, line, dots)
	}
	return panel, nil
}

// drawable are the points of s that have the figure, at their places: like the
// axes, in logarithms.
func drawable(s Series, sizes scale, figure func(Point) float64) plotter.XYs {
	var points plotter.XYs
	for _, p := range s.Points {
		if v := figure(p); shown(p, v) {
			points = append(points, plotter.XY{X: math.Log(sizes.place(p.Length)), Y: math.Log(v)})
		}
	}
	return points
}
