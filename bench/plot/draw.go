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

// Caption stands above the panels: a title, and below it, smaller, a line for each note, which says where and when the figures were
// measured.
type Caption struct {
	Title string
	Notes []string
}

// Series is one line of the picture: a name, which stands beside its end, and points in the
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

// Draw draws latency and bandwidth of series over message size into a new file, in the form that the path's ending asks
// for (see CheckPath). It returns ErrNothingToDraw, or what went wrong with the
// file; then there is no file left that it began.
func Draw(path string, caption Caption, series []Series) error {
	if err := CheckPath(path); err != nil {
		return err
	}
	panels, err := twoPanels(series)
	if err != nil {
		return fmt.Errorf("plot %q: %w", path, err)
	}
	return write(path, caption, panels)
}

// write draws panels, two side by side, into a new file.
func write(path string, caption Caption, panels []*gonum.Plot) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	_, err = page(caption, panels, endingOf(path)).WriteTo(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(fmt.Errorf("plot: %w", err), os.Remove(path))
	}
	return nil
}

func endingOf(path string) string { return strings.ToLower(filepath.Ext(path)) }

func twoPanels(series []Series) ([]*gonum.Plot, error) {
	latency, err := newPanel(Bytes, "Latency", "half round trip (µs)", series, func(p Point) float64 { return p.LatencyUs })
	if err != nil {
		return nil, err
	}
	bandwidth, err := newPanel(Bytes, "Bandwidth", "MB/s", series, func(p Point) float64 { return p.BandwidthMBps })
	if err != nil && !errors.Is(err, ErrNothingToDraw) {
		return nil, err
	}
	panels := []*gonum.Plot{latency}
	if bandwidth != nil {
		panels = append(panels, bandwidth)
	}
	return panels, nil
}

// abreast is how many panels stand side by side at most.
const abreast = 2

// page draws the caption, and panels in rows of two, on a canvas that can write itself as ending says.
func page(caption Caption, panels []*gonum.Plot, ending string) io.WriterTo {
	columns, rows := min(len(panels), abreast), (len(panels)+abreast-1)/abreast
	width := vg.Length(columns)*panelWidth + vg.Length(columns-1)*panelGap + 2*margin
	height := vg.Length(rows)*panelHeight + vg.Length(rows-1)*panelGap + 2*margin
	canvas, page := newCanvas(ending, width, height+caption.height())
	area := draw.New(canvas)
	area.FillPolygon(background, []vg.Point{
		area.Min, {X: area.Max.X, Y: area.Min.Y}, area.Max, {X: area.Min.X, Y: area.Max.Y},
	})
	caption.write(area)
	area.Max.Y -= caption.height()
	tiles := draw.Tiles{
		Rows: rows, Cols: columns, PadX: panelGap, PadY: panelGap,
		PadTop: margin, PadBottom: margin, PadLeft: margin, PadRight: margin,
	}
	for i, panel := range panels {
		panel.Draw(tiles.At(area, i%columns, i/columns))
	}
	return page
}

func newCanvas(ending string, width, height vg.Length) (vg.CanvasSizer, io.WriterTo) {
	if ending == ".svg" {
		canvas := vgsvg.New(width, height)
		return canvas, bothSchemes{canvas}
	}
	canvas := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(pixelsPerInch))
	return canvas, vgimg.PngCanvas{Canvas: canvas}
}

// newPanel draws one figure over size, or over what else the axis names, with both axes wide enough for all
// series. It returns ErrNothingToDraw if no point has that figure.
func newPanel(axis, title, unit string, series []Series, figure func(Point) float64) (*gonum.Plot, error) {
	sizes, values := sizeScale(series, figure), valueScale(series, figure)
	if sizes.empty() || values.empty() {
		return nil, ErrNothingToDraw
	}
	panel := styledPlot(title, unit)
	sizes.apply(&panel.X)
	values.apply(&panel.Y)
	if axis != Bytes {
		panel.X.Label.Text = axis
		panel.X.Tick.Marker = gonum.ConstantTicks(decades(panel.X.Min, panel.X.Max))
	}
	panel.Add(grid())
	var labels []label
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
		end := points[len(points)-1]
		labels = append(labels, label{s.Name, end, end, line.Color})
	}
	addLabels(panel, labels)
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
