package main_test

import (
	"encoding/csv"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gomx/bench/stats"
	"gomx/internal/testlength"
)

var (
	tableHead = "   Length   Latency(us)    Bandwidth(MB/s)"
	tableRow  = regexp.MustCompile(`^ {0,8}\d+   {1,9}\d+\.\d{3}       {1,8}\d+\.\d{3}$`)
)

func TestTable(t *testing.T) {
	needShm(t)
	lines := strings.Split(strings.TrimSuffix(measured(t, "-E", "9", "-N", "20"), "\n"), "\n")
	if len(lines) != 2+5 || !strings.HasPrefix(lines[0], "Running 20 iterations") || lines[1] != tableHead {
		t.Fatalf("%q", lines)
	}
	for i, length := range []string{"0", "1", "2", "4", "8"} {
		row := lines[2+i]
		if !tableRow.MatchString(row) || strings.Fields(row)[0] != length {
			t.Errorf("row %q, should be for %s bytes", row, length)
		}
	}
}

var whole = flag.Bool("pingpong.whole", false, "have TestWithoutFlags measure all rows, which takes some ten seconds")

func TestWithoutFlags(t *testing.T) {
	needShm(t)
	if !*whole {
		t.Skip("takes some ten seconds: .ci/run does it, with -pingpong.whole")
	}
	out := measured(t)
	if !strings.Contains(out, " over shm") || !strings.Contains(out, tableHead) {
		t.Errorf("not MX's table over shared memory:\n%s", out)
	}
	rows := regexp.MustCompile(`(?m)^ *\d+ `).FindAllString(out, -1)
	if len(rows) != 24 || strings.TrimSpace(rows[0]) != "0" || strings.TrimSpace(rows[23]) != "4194304" {
		t.Errorf("rows for %v, want 0 to 4194304 in powers of two", rows)
	}
}

type line struct {
	Transport    string             `json:"transport"`
	Instead      string             `json:"instead"`
	Length       int                `json:"length"`
	Iterations   int                `json:"iterations"`
	Latency      map[string]float64 `json:"latency_us"`
	Bandwidth    float64            `json:"bandwidth_MBps"`
	Rate         float64            `json:"rate_Mmsgps"`
	Window       int                `json:"window"`
	Posted       int                `json:"posted"`
	Unexpected   int                `json:"unexpected"`
	UnexpectedUs float64            `json:"unexpected_us_per_msg"`
	OneSided     string             `json:"one_sided"`
	Percentiles  []stats.Percentile `json:"percentiles"`
	Histogram    []stats.Bucket     `json:"histogram"`
}

func jsonLines(t *testing.T, args ...string) []line {
	t.Helper()
	var lines []line
	decoder := json.NewDecoder(strings.NewReader(measured(t, append([]string{"-json"}, args...)...)))
	decoder.DisallowUnknownFields()
	for decoder.More() {
		var l line
		if err := decoder.Decode(&l); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, l)
	}
	return lines
}

// The runs that bench/compare makes.
func TestModes(t *testing.T) {
	testlength.Long(t)
	needShm(t)
	lengths := filepath.Join(t.TempDir(), "lengths")
	if err := os.WriteFile(lengths, []byte("0\n8\n100000\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, mode := range [][]string{
		{}, {"-window", "16"}, {"-posted", "100"}, {"-unexpected", "1000"}, {"-alloc"}, {"-V"}, {"-R"}, {"-w"}, {"-spin", "50us"},
		{"-pin", "none"}, {"-W", "0"}, {"-transport", "mem"}, {"-transport", "self"},
		{"-V", "-R", "-alloc", "-window", "4", "-posted", "7", "-unexpected", "9"},
	} {
		t.Run(strings.Join(mode, " "), func(t *testing.T) {
			if testing.Short() && len(mode) > 0 && mode[0] != "-V" && mode[0] != "-transport" && mode[0] != "-window" {
				t.Skip("-short: each mode takes two processes")
			}
			results := jsonLines(t, append([]string{"-L", lengths, "-N", "30"}, mode...)...)
			if len(results) != 3 {
				t.Fatalf("%d lines", len(results))
			}
			for i, r := range results {
				windowed := slices.Contains(mode, "-window")
				if r.Length != []int{0, 8, 100_000}[i] || r.Iterations != 30 {
					t.Errorf("line %d: %+v", i, r)
				}
				if windowed != (r.Rate > 0) || windowed != (r.Window > 0) || windowed == (r.Latency["p50"] > 0) {
					t.Errorf("wrong figures for a window: %+v", r)
				}
				if slices.Contains(mode, "-posted") != (r.Posted > 0) || slices.Contains(mode, "-unexpected") != (r.UnexpectedUs > 0) || (r.Length > 0) != (r.Bandwidth > 0) {
					t.Errorf("figures are missing or don't apply: %+v", r)
				}
				for _, name := range []string{"min", "p50", "mean", "p99", "max", "stddev"} {
					if _, there := r.Latency[name]; there == windowed {
						t.Errorf("latency %s of %+v", name, r)
					}
				}
			}
		})
	}
}

var histogramRow = regexp.MustCompile(`^ +8 +20000( +\d+\.\d{3}){5} +- +\d+\.\d{3}$`)

func TestHistogram(t *testing.T) {
	needShm(t)
	for _, mode := range [][]string{{}, {"-mode", "atomic"}} {
		if testing.Short() && len(mode) > 0 {
			break
		}
		args := append([]string{"-histogram", "-S", "8", "-E", "9", "-N", "20000"}, mode...)
		lines := strings.Split(strings.TrimSuffix(measured(t, args...), "\n"), "\n")
		if last := lines[len(lines)-1]; !histogramRow.MatchString(last) || !strings.HasSuffix(lines[1], "p99.999   max(us)") {
			t.Errorf("%v: %q", mode, lines)
		}
		r := jsonLines(t, args...)[0]
		n := int64(0)
		for _, b := range r.Histogram {
			n += b.Count
		}
		if n != 20000 || len(r.Percentiles) != 5 || r.Percentiles[4].Percent != 99.99 || len(mode) > 0 != (r.OneSided == "atomic") {
			t.Errorf("%v: %d of 20000 are counted, percentiles %+v", mode, n, r.Percentiles)
		}
	}
}

// TestOneSided measures operations on windows, whose outcome the program checks itself.
func TestOneSided(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	needShm(t)
	for mode, last := range map[string]int{"put": 65536, "get": 65536, "atomic": 512} {
		args := []string{"-mode", mode, "-N", "30"}
		if mode != "atomic" {
			args = append(args, "-S", "0", "-E", "65537", "-M", "4")
		}
		for _, transport := range []string{"shm", "self"} {
			if testing.Short() && transport != "self" && mode != "put" {
				continue
			}
			results := jsonLines(t, append(args, "-transport", transport)...)
			if r := results[len(results)-1]; r.Length != last || r.OneSided != mode || r.Latency["p50"] <= 0 || r.Bandwidth <= 0 {
				t.Errorf("%s over %s: %+v", mode, transport, r)
			}
		}
		if out := measured(t, append(args, "-transport", "mem")...); !strings.Contains(out, "Running 30 iterations of "+mode+"s between two goroutines") {
			t.Error(out)
		}
	}
}

func TestPinned(t *testing.T) {
	needShm(t)
	needTwoCores(t)
	if out := measured(t, "-pin", "1,0", "-E", "2", "-N", "10"); !strings.Contains(out, "on cores 1 and 0") {
		t.Errorf("%s", out)
	}
}

func TestCSV(t *testing.T) {
	for _, mode := range [][]string{{}, {"-window", "3"}} {
		args := append([]string{"-csv", "-transport", "self", "-E", "3", "-N", "10"}, mode...)
		rows, err := csv.NewReader(strings.NewReader(measured(t, args...))).ReadAll()
		if err != nil || len(rows) != 4 {
			t.Fatalf("%v, %v", rows, err)
		}
		at := func(name string) string { return rows[3][slices.Index(rows[0], name)] }
		if at("transport") != "self" || at("length") != "2" || at("iterations") != "10" || at("bandwidth_MBps") == "" {
			t.Errorf("%v", rows)
		}
		if windowed := len(mode) > 0; (at("latency_us_p50") == "") != windowed || (at("latency_us_stddev") == "") != windowed || (at("rate_Mmsgps") != "") != windowed {
			t.Errorf("%v: %v", mode, rows)
		}
	}
}

func TestPlot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "result.svg")
	measured(t, "-transport", "self", "-E", "100", "-N", "10", "-plot", path)
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "<svg") {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

func TestHelp(t *testing.T) {
	out := measured(t, "-h")
	for _, name := range strings.Fields("-s -d -r -n -b -e -f -S -E -I -M -L -N -V -w -W -R -transport -window -posted -unexpected -alloc -mode -histogram -pin -spin -json -csv -plot") {
		if !strings.Contains(out, "\n  "+name+" ") {
			t.Errorf("-h does not explain %s", name)
		}
	}
	for row := range strings.Lines(out) {
		if len(row) > 84 {
			t.Errorf("too wide for a terminal: %q", row)
		}
	}
}
