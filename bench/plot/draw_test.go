package plot_test

import (
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
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

var compared = []plot.Series{
	series("gomx", 0.12, 0.00007, 0, 8, 64, 512, 4<<10, 32<<10, 256<<10, 2<<20),
	series("openmpi", 0.21, 0.0001, 0, 8, 64, 512, 4<<10, 32<<10, 256<<10, 2<<20),
	series("mpich", 0.35, 0.00009, 0, 8, 64, 512, 4<<10, 32<<10, 256<<10, 2<<20),
}

func TestDrawSVG(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.svg")
	if err := plot.Draw(path, compared); err != nil {
		t.Fatal(err)
	}
	words := svgWords(t, path)
	for _, want := range []string{
		"gomx", "openmpi", "mpich", "Latency", "Bandwidth", "MB/s",
		"0", "8", "64", "512", "4K", "32K", "256K", "2M",
	} {
		if words[want] == 0 {
			t.Errorf("the picture doesn't say %q", want)
		}
	}
	if words["gomx"] != 1 {
		t.Errorf("gomx is named %d times, want once", words["gomx"])
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
	if err := plot.Draw(path, compared); err != nil {
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
		err := plot.Draw(path, compared)
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
		if err := plot.Draw(path, input); !errors.Is(err, plot.ErrNothingToDraw) {
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
			if err := plot.Draw(path, input); err != nil {
				t.Fatal(err)
			}
			svgWords(t, path)
		})
	}
}

func TestUnwritablePath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "out.svg")
	if err := plot.Draw(path, compared); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
