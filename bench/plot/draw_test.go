package plot_test

import (
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gomx/bench/plot"
)

// series is a made-up measurement: a start-up time and a speed.
func series(name string, startUs, perByteUs float64, lengths ...int) plot.Series {
	s := plot.Series{Name: name}
	for _, length := range lengths {
		us := startUs + perByteUs*float64(length)
		s.Points = append(s.Points, plot.Point{Length: length, LatencyUs: us, BandwidthMBps: float64(length) / us})
	}
	return s
}

var caption = plot.Caption{Title: "A message there and back", Notes: []string{"a machine, a day"}}

var compared = []plot.Series{
	series("gomx", 0.12, 0.00007, 0, 8, 64, 512, 4<<10, 32<<10, 256<<10, 2<<20),
	series("Open MPI", 0.21, 0.0001, 0, 8, 64, 512, 4<<10, 32<<10, 256<<10, 2<<20),
	series("MPICH", 0.35, 0.00009, 0, 8, 64, 512, 4<<10, 32<<10, 256<<10, 2<<20),
}

func TestDrawSVG(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.svg")
	if err := plot.Draw(path, caption, compared); err != nil {
		t.Fatal(err)
	}
	words := svgWords(t, path)
	for _, want := range []string{
		"gomx", "Open MPI", "MPICH", "Latency", "Bandwidth", "MB/s",
		"0 B", "8 B", "64 B", "512 B", "4 KiB", "32 KiB", "256 KiB", "2 MiB", caption.Title, caption.Notes[0],
	} {
		if words[want] == 0 {
			t.Errorf("the picture doesn't say %q", want)
		}
	}
	if words["gomx"] != 2 {
		t.Errorf("gomx is named %d times, want once in each panel", words["gomx"])
	}
}

// svgWords counts the texts of an SVG file, which must be well-formed.
func svgWords(t *testing.T, path string) map[string]int {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	words := map[string]int{}
	for decoder := xml.NewDecoder(file); ; {
		token, err := decoder.Token()
		if err == io.EOF {
			return words
		}
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := token.(xml.CharData); ok {
			words[strings.TrimSpace(string(data))]++
		}
	}
}

func TestDrawPNG(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.PNG")
	if err := plot.Draw(path, caption, compared); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	picture, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	if r, g, b, a := picture.At(1, 1).RGBA(); min(r, g, b) < 0xf000 || a != 0xffff {
		t.Errorf("background %x %x %x %x, want an opaque light one", r, g, b, a)
	}
}

func TestOtherEndings(t *testing.T) {
	for _, name := range []string{"out.pdf", "out", "svg", ""} {
		path := filepath.Join(t.TempDir(), name)
		err := plot.Draw(path, caption, compared)
		if err == nil || !strings.Contains(err.Error(), ".svg or .png") {
			t.Errorf("%q: error %v", name, err)
		}
		if plot.CheckPath(path) == nil {
			t.Errorf("%q: CheckPath finds nothing wrong", name)
		}
	}
}

func TestNothingToDraw(t *testing.T) {
	for name, input := range map[string][]plot.Series{
		"no series": nil,
		"no points": {{Name: "gomx"}},
		"no figures": {{Name: "gomx", Points: []plot.Point{
			{Length: 8}, {Length: 8, LatencyUs: math.NaN()}, {Length: 8, LatencyUs: -1},
			{Length: 8, LatencyUs: math.Inf(1)}, {Length: -8, LatencyUs: 1},
		}}},
	} {
		path := filepath.Join(t.TempDir(), "out.svg")
		if err := plot.Draw(path, plot.Caption{}, input); !errors.Is(err, plot.ErrNothingToDraw) {
			t.Errorf("%s: error %v", name, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: a file was left", name)
		}
	}
}

// Shapes of input that scales or legends might stumble over.
func TestOddSeries(t *testing.T) {
	for name, input := range map[string][]plot.Series{
		"one point":           {series("a", 1, 0, 8)},
		"one empty message":   {series("a", 1, 0, 0)},
		"one byte":            {series("a", 1, 0, 1)},
		"powers of two":       {series("a", 0.1, 0.0001, 0, 1, 2, 4, 8, 16, 32, 1<<22)},
		"no power of two":     {series("a", 0.1, 0.0001, 100, 101)},
		"lengths that differ": {series("a", 1, 0.1, 0, 8), series("b", 2, 0.1, 1<<20), {Name: "c"}},
		"many series": {
			series("a", 1, 1, 8), series("b", 2, 1, 8), series("c", 3, 1, 8), series("d", 4, 1, 8),
			series("e", 5, 1, 8), series("f", 6, 1, 8), series("g", 7, 1, 8),
		},
		"huge spread": {{Name: "a", Points: []plot.Point{
			{Length: 1, LatencyUs: 1e-300, BandwidthMBps: 1e300}, {Length: math.MaxInt, LatencyUs: 1e300, BandwidthMBps: 1e-300},
		}}},
		"name to escape": {series("a<b&c", 1, 1, 8)},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out.svg")
			if err := plot.Draw(path, plot.Caption{}, input); err != nil {
				t.Fatal(err)
			}
			svgWords(t, path)
		})
	}
}

func TestUnwritablePath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "out.svg")
	if err := plot.Draw(path, caption, compared); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// TestDarkPage: every colour of a picture has one for dark pages.
func TestDarkPage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.svg")
	many := append(compared, series("d", 4, 1, 8), series("e", 5, 1, 8), series("f", 6, 1, 8))
	if err := plot.Draw(path, caption, many); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sheet, drawing, _ := strings.Cut(string(text), "</style>")
	for _, m := range regexp.MustCompile(`(?:fill|stroke):#[0-9A-Fa-f]{6}`).FindAllString(drawing, -1) {
		if !strings.Contains(sheet, `[style*="`+m+`"]`) {
			t.Errorf("the style sheet for dark pages knows no %s", m)
		}
	}
}
