package metrics

import (
	"bytes"
	"cmp"
	"expvar"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"gomx/mx"
)

// contentType is that of the text format of Prometheus.
const contentType = "text/plain; version=0.0.4; charset=utf-8"

// Handler serves the counters of the process in the text format of Prometheus. It answers GET and HEAD. Safe from any
// goroutine.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "want GET or HEAD", http.StatusMethodNotAllowed)
			return
		}
		var b bytes.Buffer
		_ = Write(&b, mx.Snapshot()) // a buffer does not fail
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(b.Bytes()) // whoever asked may have gone
	})
}

// Publish makes mx.Snapshot a variable of package expvar. Like expvar.Publish it must be called once for a name, and panics otherwise.
func Publish(name string) { expvar.Publish(name, expvar.Func(func() any { return mx.Snapshot() })) }

// family is the values of one name.
type family struct {
	name    string
	counter *mx.Counter // one of them, for the text
	lines   []string
	series  map[string]bool // of the lines
}

// add adds a line, unless there is one of the same series.
func (f *family) add(series, value string) {
	if f.series[series] {
		return
	}
	if f.series == nil {
		f.series = map[string]bool{}
	}
	f.series[series] = true
	f.lines = append(f.lines, series+" "+value)
}

// Write writes the counters of a snapshot in the text format of Prometheus. A counter c of layer l is l_c, with _total behind it unless it
// describes a moment. Names of a program's own counters that Prometheus would not take are written with underscores, and of two counters
// with the same name and labels the first is written. The error is that of w.
func Write(w io.Writer, s mx.ProcessSnapshot) error {
	families := map[string]*family{}
	for _, g := range s.CounterGroups() {
		for i := range g.Counters {
			c := &g.Counters[i]
			name := metricName(g.Layer, c)
			f := families[name]
			if f == nil {
				f = &family{name: name, counter: c}
				families[name] = f
			}
			f.add(line(name, g.Labels, c))
		}
	}
	addDepths(families, &s)
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(families)) {
		families[name].write(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// addDepths adds what is in a snapshot and is no counter.
func addDepths(families map[string]*family, s *mx.ProcessSnapshot) {
	up := mx.Counter{Name: "endpoint_info", Kind: mx.Gauge, Help: "1 for each open endpoint; its labels say what it is", Value: 1}
	peers := mx.Counter{Name: "peers", Kind: mx.Gauge, Help: "peers that the endpoint has a link to, by transport"}
	pending := mx.Counter{Name: "pending_requests", Kind: mx.Gauge, Help: "requests that are not complete"}
	add := func(c mx.Counter, labels ...mx.Label) {
		name := metricName("mx", &c)
		f := families[name]
		if f == nil {
			f = &family{name: name, counter: &c}
			families[name] = f
		}
		f.add(line(name, labels, &c))
	}
	for i := range s.Endpoints {
		ep := &s.Endpoints[i]
		name := mx.Label{Name: "endpoint", Value: ep.Name}
		add(up, name, mx.Label{Name: "interface", Value: ep.Interface}, mx.Label{Name: "transports", Value: strings.Join(ep.Transports, ",")})
		pending.Value = uint64(ep.Depths.Pending)
		add(pending, name)
		linked := map[string]uint64{}
		for _, p := range ep.Peers {
			if p.Transport != "" && p.Failure == "" {
				linked[p.Transport]++
			}
		}
		for _, transport := range ep.Transports {
			peers.Value = linked[transport]
			add(peers, name, mx.Label{Name: "transport", Value: transport})
		}
	}
}

// metricName returns the name of a counter as Prometheus wants it.
func metricName(layer string, c *mx.Counter) string {
	name := identifier(layer + "_" + c.Name)
	if base, ok := strings.CutSuffix(name, "_nanoseconds"); ok {
		name = base + "_seconds"
	}
	if c.Kind == mx.Cumulative {
		name = strings.TrimSuffix(name, "_total") + "_total"
	}
	return name
}

// identifier makes an identifier of a name, if it is none.
func identifier(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	if name == "" || '0' <= name[0] && name[0] <= '9' {
		name = "_" + name
	}
	return name
}

// line returns the series of a counter, without a label in it twice, and its value.
func line(name string, labels []mx.Label, c *mx.Counter) (series, value string) {
	var b strings.Builder
	b.WriteString(name)
	separator := byte('{')
	var names []string
	for _, list := range [][]mx.Label{labels, c.Labels} {
		for _, l := range list {
			label := identifier(l.Name)
			if slices.Contains(names, label) {
				continue
			}
			names = append(names, label)
			b.WriteByte(separator)
			b.WriteString(label + `="` + escaper.Replace(strings.ToValidUTF8(l.Value, "\ufffd")) + `"`)
			separator = ','
		}
	}
	if separator == ',' {
		b.WriteByte('}')
	}
	if strings.HasSuffix(c.Name, "_nanoseconds") {
		return b.String(), strconv.FormatFloat(float64(c.Value)/1e9, 'g', -1, 64)
	}
	return b.String(), strconv.FormatUint(c.Value, 10)
}

var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

func (f *family) write(b *strings.Builder) {
	kind := "gauge"
	if f.counter.Kind == mx.Cumulative {
		kind = "counter"
	}
	b.WriteString("# HELP " + f.name + " " + helpEscaper.Replace(f.counter.Help) + "\n# TYPE " + f.name + " " + kind + "\n")
	slices.SortFunc(f.lines, cmp.Compare[string])
	for _, l := range f.lines {
		b.WriteString(l + "\n")
	}
}

var helpEscaper = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
