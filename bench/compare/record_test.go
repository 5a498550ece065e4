package main

import (
	"strings"
	"testing"
)

const sample = `some library: a warning
{"transport":"shm","length":0,"iterations":9,"latency_us":{"min":0.1,"p50":0.2,"mean":0.3,"p99":0.4,"max":0.5,"stddev":0.1},"unknown":[1]}
  {"length":8,"latency_us":{"p50":0.25},"library":"X"}

{"length":64,"rate_Mmsgps":14.5,"unexpected_us_per_msg":0.5}
`

func TestParseRecords(t *testing.T) {
	records, err := parseRecords([]byte(sample))
	if err != nil || len(records) != 3 {
		t.Fatalf("%d records, %v", len(records), err)
	}
	if r := records[0]; r.Length != 0 || r.Latency.P50 != 0.2 || r.Latency.Max != 0.5 {
		t.Errorf("first record %+v", r)
	}
	if r := records[1]; r.Length != 8 || r.Library != "X" {
		t.Errorf("second record %+v", r)
	}
	if _, err := parseRecords([]byte("{\"length\":8\n")); err == nil || !strings.Contains(err.Error(), "unreadable") {
		t.Errorf("a torn line: error %v", err)
	}
}

func TestPick(t *testing.T) {
	records, err := parseRecords([]byte(sample))
	if err != nil {
		t.Fatal(err)
	}
	picked, err := pick(records, job{medium: shm, quantity: "latency", lengths: []int{8, 0}})
	if err != nil || len(picked) != 2 || picked[0].Length != 8 || picked[1].Length != 0 {
		t.Errorf("got %+v, %v", picked, err)
	}
	for _, c := range []struct {
		j    job
		want string
	}{
		{job{medium: tcp, quantity: "latency", lengths: []int{0}}, "0 B travelled over shm, want tcp"},
		{job{quantity: "latency", lengths: []int{512}}, "0 results for 512 B"},
		{job{quantity: "latency", lengths: []int{64}}, "no latency"},
		{job{quantity: "rate", lengths: []int{8}}, "no rate"},
		{job{quantity: "unexpected", lengths: []int{8}}, "no unexpected"},
	} {
		if _, err := pick(records, c.j); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %q in it", c.j, err, c.want)
		}
	}
	if _, err := pick(append(records, records[1]), job{quantity: "latency", lengths: []int{8}}); err == nil {
		t.Error("two results for one length are taken")
	}
}

func FuzzParseRecords(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(`{"length":8,"latency_us":null}`))
	f.Fuzz(func(t *testing.T, output []byte) {
		records, err := parseRecords(output)
		if err != nil && records != nil {
			t.Errorf("records beside error %v", err)
		}
		j := job{quantity: "latency", lengths: []int{8}}
		if picked, err := pick(records, j); err == nil && !(picked[0].value(j) > 0) {
			t.Errorf("picked without a figure: %+v", picked[0])
		}
	})
}
