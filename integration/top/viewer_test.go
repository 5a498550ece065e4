//go:build linux

package top

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gomx/mpi"
	"gomx/mx/trace"
)

// viewerPage loads the trace viewer of Chromium (chrome://tracing), which Go's sources hold for go tool trace.
const viewerPage = `<!DOCTYPE html><html><head><script src="/static/webcomponents.min.js"></script>
<link rel="import" href="/static/trace_viewer_full.html"></head><body><script>
let view = null, model = null, failure = "";
document.addEventListener("WebComponentsReady", async () => {
  view = "ready";
  try {
    const text = await (await fetch("/trace.json")).text();
    const m = new tr.Model();
    await new tr.importer.Import(m).importTraces([text]);
    model = m;
  } catch (e) { failure = String(e.stack || e); }
});
</script></body></html>`

// viewer serves the page, and a trace.
func viewer(t *testing.T, file []byte) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	static := filepath.Join(strings.TrimSpace(string(root)), "src/internal/trace/traceviewer/static")
	if _, err := os.Stat(filepath.Join(static, "trace_viewer_full.html")); err != nil {
		t.Skipf("the sources of Go are not whole: %v", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/static/", http.StripPrefix("/static/", http.FileServer(http.Dir(static))))
	mux.HandleFunc("/trace.json", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(file) })
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(viewerPage))
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// TestTraceViewer has the trace viewer of Chromium import the file that mx_trace writes of a job that sends, puts and waits in collectives: without
// a warning, with all processes, slices and arrows. What Perfetto makes of it is not tested: that takes the network.
func TestTraceViewer(t *testing.T) {
	long(t)
	need(t, "chromium", "chromium")
	folder := t.TempDir()
	t.Setenv("MX_TRACE", folder)
	t.Setenv("MX_TRACE_BYTES", "64K")
	const ranks = 3
	err := mpi.Run(ranks, func(world *mpi.Comm) error {
		win, err := mpi.WinAllocate[int](world, 8)
		if err != nil {
			return err
		}
		next := (world.Rank() + 1) % ranks
		for _, step := range []func() error{
			win.Fence, func() error { return win.Put([]int{1}, next, 0) }, win.Fence, world.Barrier, win.Free,
			func() error {
				_, err := mpi.Sendrecv(world, make([]byte, 1<<20), next, 1, make([]byte, 1<<20), (next+1)%ranks, 1)
				return err
			},
		} {
			if err := step(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	files, err := trace.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	all, err := trace.Merge(files)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := all.WriteChrome(&file); err != nil {
		t.Fatal(err)
	}
	arrows, slices := bytes.Count(file.Bytes(), []byte(`{"ph":"s"`)), bytes.Count(file.Bytes(), []byte(`{"ph":"X"`))+bytes.Count(file.Bytes(), []byte(`{"ph":"i"`))
	b := openBrowser(t)
	b.open(viewer(t, file.Bytes()))
	b.until(`model !== null || failure !== ""`)
	for what, want := range map[string]string{
		"failure":                              "",
		"JSON.stringify(model.importWarnings)": "[]",
		"model.getAllProcesses().length":       fmt.Sprint(ranks),
		"model.getAllProcesses().every(p => /^rank [0-2] /.test(p.name))": "true",
		"model.flowEvents.length": fmt.Sprint(arrows),
		"model.flowEvents.every(f => f.startSlice && f.endSlice && f.duration >= 0)":                           "true",
		"model.getAllThreads().every(t => /^(messages|waits|regions)$/.test(t.name))":                          "true",
		"model.getAllThreads().reduce((n, t) => n + t.sliceGroup.length, 0)":                                   fmt.Sprint(slices),
		"model.getAllThreads().some(t => t.sliceGroup.slices.some(s => s.title === 'put served'))":             "true",
		"model.getAllThreads().some(t => t.asyncSliceGroup.slices.some(s => s.title === 'rendezvous send'))":   "true",
		"model.getAllThreads().every(t => t.sliceGroup.slices.every(s => s.duration >= 0 && !s.didNotFinish))": "true",
		"model.getAllThreads().every(t => t.asyncSliceGroup.slices.every(s => s.duration >= 0 && !s.error))":   "true",
		"model.getAllThreads().every(t => t.sliceGroup.slices.every(s => !s.parentSlice || s.duration === 0))": "true",
	} {
		if got := b.eval(what); got != want {
			t.Errorf("%s is %q, want %q", what, got, want)
		}
	}
	if arrows < 6 || slices < 2*arrows {
		t.Errorf("the trace has %d arrows and %d slices", arrows, slices)
	}
}
