package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"gomx/bench/stats"
)

// record is one line that a measuring program prints. Both programs print the
// same fields; a field that doesn't apply is left out and stays 0 here.
type record struct {
	Transport    string         `json:"transport"`
	Call         string         `json:"call"`
	Length       int            `json:"length"`
	Ranks        int            `json:"ranks"`
	Latency      *stats.Summary `json:"latency_us"`
	Rate         float64        `json:"rate_Mmsgps"`
	Bandwidth    float64        `json:"bandwidth_MBps"`
	UnexpectedUs float64        `json:"unexpected_us_per_msg"`
	Library      string         `json:"library"`
}

// parseRecords reads the JSON lines of a program's output. Other lines are
// passed over: launchers and libraries print warnings of their own.
func parseRecords(output []byte) ([]record, error) {
	var records []record
	for line := range bytes.Lines(output) {
		line = bytes.TrimSpace(line)
		if !bytes.HasPrefix(line, []byte("{")) {
			continue
		}
		var r record
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, fmt.Errorf("unreadable result %q: %w", line, err)
		}
		records = append(records, r)
	}
	return records, nil
}

// pick returns the record of every length asked for, in that order. It is an
// error if one is missing, twice there, or lacks what the job measures.
func pick(records []record, j job) ([]record, error) {
	if j.ranks > 0 {
		return pickCalls(records, j)
	}
	picked := make([]record, 0, len(j.lengths))
	for _, length := range j.lengths {
		var found []record
		for _, r := range records {
			if r.Length == length {
				found = append(found, r)
			}
		}
		if len(found) != 1 {
			return nil, fmt.Errorf("%d results for %s, want 1", len(found), sizeName(length))
		}
		if t := found[0].Transport; slices.Contains(media, t) && t != string(j.medium) {
			return nil, fmt.Errorf("%s travelled over %s, want %s", sizeName(length), t, string(j.medium))
		}
		if v := found[0].value(j); !(v > 0) {
			return nil, fmt.Errorf("no %s among the results for %s", j.quantity, sizeName(length))
		}
		picked = append(picked, found[0])
	}
	return picked, nil
}

// value is the figure the job is run for: microseconds, millions of messages a
// second, or MB/s. It is 0 if the record doesn't hold it.
func (r record) value(j job) float64 {
	switch j.quantity {
	case "rate":
		return r.Rate
	case "bandwidth":
		return r.Bandwidth
	case "unexpected":
		return r.UnexpectedUs
	}
	if r.Latency == nil {
		return 0
	}
	if j.quantity == "alloc" {
		// From the median, so that it is the same kind of figure as the latency.
		return float64(r.Length) / r.Latency.P50
	}
	return r.Latency.P50
}
