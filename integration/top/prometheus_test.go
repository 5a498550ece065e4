//go:build linux

package top

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gomx/internal/freeport"
	"gomx/mpi"
	"gomx/mx/metrics"
)

func init() {
	// metrics is a job that collects and serves its metrics, each rank at a port of its own.
	programs["metrics"] = func(world *mpi.Comm) error {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		go func() { _ = http.Serve(l, metrics.Handler()) }()
		sum := []float64{1}
		for turn := 0; ; turn++ {
			if err := mpi.Allreduce(world, sum, []float64{0}, mpi.Sum); err != nil {
				return err
			}
			if turn == 0 {
				fmt.Printf("process %d is rank %d\n", os.Getpid(), world.Rank())
				if err := os.WriteFile(filepath.Join(os.Getenv("TOP_TEST_PORTS"), fmt.Sprint(world.Rank())), []byte(l.Addr().String()), 0o600); err != nil {
					return err
				}
				if err := world.Barrier(); err != nil {
					return err
				}
			}
			out, in := make([]byte, 100), make([]byte, 100)
			if _, err := mpi.Sendrecv(world, out, 1-world.Rank(), 1, in, 1-world.Rank(), 1); err != nil {
				return err
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// TestPrometheus has Prometheus scrape a job, load the alerting rules that the documentation offers, and answer each
// query of its dashboard.
func TestPrometheus(t *testing.T) {
	t.Parallel()
	long(t)
	program := need(t, "prometheus", "prometheus")
	dir := t.TempDir()
	play(t, build(t), "metrics", 2, "TOP_TEST_PORTS="+dir)
	var targets []string
	var err error
	for rank := range 2 {
		var text []byte
		for end := time.Now().Add(patience); len(text) == 0; time.Sleep(10 * time.Millisecond) { // it is empty before it is written
			if text, err = os.ReadFile(filepath.Join(dir, fmt.Sprint(rank))); len(text) == 0 && time.Now().After(end) {
				t.Fatalf("rank %d has no address: %v", rank, err)
			}
		}
		targets = append(targets, fmt.Sprintf("%q", text))
	}
	rules, err := filepath.Abs("../../docs/metrics/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "prometheus.yml")
	text := fmt.Sprintf("global: {scrape_interval: 200ms, scrape_timeout: 200ms, evaluation_interval: 200ms}\nrule_files: [%q]\nscrape_configs: [{job_name: gomx, static_configs: [{targets: [%s]}]}]\n",
		rules, strings.Join(targets, ", "))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := startPrometheus(t, program, config, filepath.Join(dir, "data"))
	p.until(t, `count(rate(mpi_messages_sent_total[5s]) > 0)`) // two scrapes
	p.rulesWork(t)
	for _, q := range dashboardQueries(t) {
		p.until(t, q)
	}
}

// prometheus is one that runs.
type prometheus struct{ at string }

// startPrometheus starts one on loopback. It ends with the test.
func startPrometheus(t *testing.T, program, config, data string) *prometheus {
	t.Helper()
	at := freeport.Address(t) // it has no way to say which port it took
	cmd := exec.Command(program, "--config.file="+config, "--storage.tsdb.path="+data, "--web.listen-address="+at, "--log.level=error")
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &prometheus{at}
}

// get returns the data of an answer, or why there is none.
func (p *prometheus) get(ctx context.Context, path string, data any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.at+path, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body := struct {
		Status, Error string
		Data          json.RawMessage
	}{}
	text, err := io.ReadAll(answer.Body)
	if err == nil {
		err = json.Unmarshal(text, &body)
	}
	if err == nil && body.Status != "success" {
		err = fmt.Errorf("%s: %s", answer.Status, body.Error)
	}
	if err == nil {
		err = json.Unmarshal(body.Data, data)
	}
	return err
}

// until asks a query until it has an answer with values.
func (p *prometheus) until(t *testing.T, query string) {
	t.Helper()
	got := struct{ Result []json.RawMessage }{}
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		err := p.get(t.Context(), "/api/v1/query?query="+url.QueryEscape(query), &got)
		if err == nil && len(got.Result) > 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: %v, %s", query, err, got.Result)
		}
	}
}

// rulesWork wants all rules to be loaded and evaluated without errors, with a query that finds its metrics.
func (p *prometheus) rulesWork(t *testing.T) {
	t.Helper()
	type rule struct{ Name, Query, Health, LastError, State string }
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		got := struct{ Groups []struct{ Rules []rule } }{}
		err := p.get(t.Context(), "/api/v1/rules", &got)
		bad, all := []rule{}, 0
		for _, g := range got.Groups {
			for _, r := range g.Rules {
				if all++; r.Health != "ok" || r.State == "firing" {
					bad = append(bad, r)
				}
			}
		}
		if err == nil && all > 0 && len(bad) == 0 {
			for _, r := range got.Groups[0].Rules {
				metric, _, _ := strings.Cut(r.Query, " > ")
				p.until(t, metric) // without the limit it is the value, which is there also while all is well
			}
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%d rules, of these are not well or fire: %+v, %v", all, bad, err)
		}
	}
}

// dashboardQueries are those of the Grafana dashboard, with its variables filled in as Grafana does.
func dashboardQueries(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/metrics/dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	board := struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}{}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	for _, p := range board.Panels {
		for _, q := range p.Targets {
			all = append(all, strings.NewReplacer("$job", "gomx", "$__rate_interval", "5s").Replace(q.Expr))
		}
	}
	if len(all) < 10 {
		t.Fatalf("the dashboard has the queries %q", all)
	}
	return all
}
