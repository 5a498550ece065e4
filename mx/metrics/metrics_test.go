package metrics_test

import (
	"encoding/json"
	"expvar"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"gomx/mpi"
	"gomx/mx"
	"gomx/mx/metrics"
)

// page returns what the handler serves in a job of two ranks that has done something.
func page(t *testing.T, handler http.Handler, method string) (text string, r *http.Response) {
	t.Helper()
	err := mpi.Run(2, func(world *mpi.Comm) error {
		world.SetName("odd \"name\"\\\n\xff")
		if err := world.Barrier(); err != nil {
			return err
		}
		if world.Rank() == 0 {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "/metrics", nil))
			r = w.Result()
			b, err := io.ReadAll(r.Body)
			if text = string(b); err != nil {
				return err
			}
		}
		return world.Barrier()
	})
	if err != nil {
		t.Fatal(err)
	}
	return text, r
}

func TestHandler(t *testing.T) {
	text, r := page(t, metrics.Handler(), http.MethodGet)
	if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != "text/plain; version=0.0.4; charset=utf-8" {
		t.Errorf("status %d, %v", r.StatusCode, r.Header)
	}
	for _, want := range []string{
		"# TYPE mx_messages_sent_total counter\n",
		"# TYPE mx_receives_posted gauge\n",
		"# TYPE mx_wait_seconds_total counter\n",
		`mpi_collectives_total{rank="0",comm="odd \"name\"\\\n` + "\ufffd" + `",context="2",operation="barrier",algorithm=`,
		`mx_peers{endpoint=`,
		`mpi_size{rank="1"} 2` + "\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// TestDocumentsNameEveryMetric wants docs/metrics.md to have a row for all that the page has.
func TestDocumentsNameEveryMetric(t *testing.T) {
	docs, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := page(t, metrics.Handler(), http.MethodGet)
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			name, kind, _ := strings.Cut(strings.TrimSpace(rest), " ")
			row := regexp.MustCompile(`(?m)^\| ([a-z_]+, )*` + name + `(, [a-z_]+)* \| ` + kind + ` \| `)
			if !row.Match(docs) {
				t.Errorf("docs/metrics.md has no row for the %s %s", kind, name)
			}
		}
	}
}

func TestOtherMethodsAreRefused(t *testing.T) {
	if _, r := page(t, metrics.Handler(), http.MethodPost); r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("status %d", r.StatusCode)
	}
}

// TestOddCounters: counters of a program whose names are no identifiers, or that are there twice, spoil nothing.
func TestOddCounters(t *testing.T) {
	odd := mx.Counter{Name: "Größe, total", Help: "a\nb", Kind: mx.Cumulative, Value: 7, Labels: []mx.Label{{Name: "a-b", Value: "1"}, {Name: "a-b", Value: "2"}, {Name: "9", Value: "3"}}}
	done := mx.Counter{Name: "done_total", Help: "what is done", Kind: mx.Cumulative, Value: 1}
	defer mx.AddCounters(func() []mx.CounterGroup {
		return []mx.CounterGroup{{Layer: "7-app", Counters: []mx.Counter{odd, odd, done}}}
	})()
	text, _ := page(t, metrics.Handler(), http.MethodGet)
	for _, want := range []string{"\n_7_app_Gr__e__total{a_b=\"1\",_9=\"3\"} 7\n", "\n_7_app_done_total 1\n"} {
		if strings.Count(text, want) != 1 {
			t.Errorf("%q stands there %d times", want, strings.Count(text, want))
		}
	}
	promtool(t, text)
}

// TestPromtool has Prometheus' own parser and its rules for names read the page. Without promtool the test is skipped, but in CI, which installs it, it fails.
func TestPromtool(t *testing.T) {
	text, _ := page(t, metrics.Handler(), http.MethodGet)
	promtool(t, text)
}

func promtool(t *testing.T, text string) {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatal("promtool is not installed (Debian: prometheus), and CI should have it")
	}
	if err != nil {
		t.Skip("promtool is not installed (Debian: prometheus)")
	}
	cmd := exec.CommandContext(t.Context(), path, "check", "metrics")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func TestPublish(t *testing.T) {
	metrics.Publish("gomx")
	if err := mx.Init(); err != nil {
		t.Fatal(err)
	}
	ep, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, 1)
	if err != nil {
		t.Fatal(err)
	}
	var s mx.ProcessSnapshot
	if err := json.Unmarshal([]byte(expvar.Get("gomx").String()), &s); err != nil {
		t.Fatal(err)
	}
	if len(s.Endpoints) != 1 || s.Endpoints[0].Name != ep.String() {
		t.Errorf("%+v", s.Endpoints)
	}
	if err := ep.Close(); err != nil {
		t.Fatal(err)
	}
	if err := mx.Finalize(); err != nil {
		t.Fatal(err)
	}
}
