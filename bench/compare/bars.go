package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// bar is a mark that gomx is meant to reach in one table: a ratio of its median to
// that of the best rival, or how much more it is, on every line that counts.
type bar struct {
	medium   medium
	quantity string
	lengths  []int
	lines    []string // instead of lengths, where lines are no lengths
	rivals   []string // the best that was measured counts
	limit    float64  // of the ratio: at most, or at least where higher figures are better
	more     bool     // the limit is no ratio, but a difference in the table's unit
}

var theMPIs = []string{"openmpi", "mpich"}

var allBars = []bar{
	{shm, ranksQuantity(2), nil, []string{halfRoundTrip[0].line()}, []string{endpointsName}, 0.04, true},
	{shm, ranksQuantity(2), nil, []string{halfRoundTrip[0].line()}, theMPIs[:1], 0.85, false},
	{shm, ranksQuantity(2), nil, collectiveLines(), theMPIs, 1, false},
	{shm, ranksQuantity(4), nil, collectiveLines(), theMPIs, 1, false},
	{shm, ranksQuantity(8), nil, collectiveLines(), theMPIs, 1, false},
	{tcp, "latency", []int{0, 8, 64, 512, 4 << 10}, nil, []string{bareName}, 1.08, false},
	{tcp, "latency", []int{0, 8, 64, 512, 4 << 10}, nil, theMPIs, 0.95, false},
	{tcp, "latency", []int{32 << 10, 256 << 10, 2 << 20}, nil, theMPIs, 1, false},
	{tcp, "rate", []int{8}, nil, theMPIs, 1.5, false},
	{rdma, "latency", []int{8}, nil, []string{sendLatency}, 1.25, false},
	{rdma, "latency", []int{8}, nil, theMPIs, 0.9, false},
	{rdma, "bandwidth", []int{1 << 20}, nil, []string{readStream}, 0.9, false},
}

// Verdicts.
const (
	met         = "met"
	missed      = "missed"
	notMeasured = "not measured"
)

// judgement is how gomx stands to a bar.
type judgement struct {
	Medium  string             `json:"medium"`
	Bar     string             `json:"bar"`
	Limit   float64            `json:"limit"`
	Ratios  map[string]float64 `json:"ratios"` // by line; differences, where the bar is one
	Verdict string             `json:"verdict"`
	figures string
}

// judge holds every table to its bars. Where no rival has a column there is
// nothing to say.
func (r *report) judge() []judgement {
	var all []judgement
	for _, b := range allBars {
		i := slices.IndexFunc(r.sheets, func(s *sheet) bool { return s.medium == b.medium && s.quantity == b.quantity })
		if i >= 0 && len(b.measuredRivals(r.sheets[i])) > 0 {
			all = append(all, b.judge(r.sheets[i]))
		}
	}
	return all
}

// judge wants every line: a bar with a gap is not met, unless it is missed anyway.
func (b bar) judge(s *sheet) judgement {
	j := judgement{
		Medium: string(b.medium), Bar: b.words(s), Limit: b.limit,
		Ratios: map[string]float64{}, Verdict: met,
	}
	var figures []string
	for _, line := range b.measured() {
		ratio, rival := b.ratio(s, line)
		switch {
		case math.IsNaN(ratio):
			figures = append(figures, line+" "+missing)
			if j.Verdict == met {
				j.Verdict = notMeasured
			}
			continue
		case !b.reached(s, ratio):
			j.Verdict = missed
		}
		j.Ratios[line] = ratio
		figures = append(figures, fmt.Sprintf(b.form(), line, ratio, rival))
	}
	j.figures = strings.Join(figures, ", ")
	return j
}

func (b bar) form() string {
	if b.more {
		return "%s %+.3f (%s)"
	}
	return "%s %.3f (%s)"
}

// measured are the lines that count.
func (b bar) measured() []string {
	if b.lines != nil {
		return b.lines
	}
	var lines []string
	for _, length := range b.lengths {
		lines = append(lines, sizeName(length))
	}
	return lines
}

func (b bar) reached(s *sheet, ratio float64) bool {
	if s.higher {
		return ratio >= b.limit
	}
	return ratio <= b.limit
}

// ratio is gomx's median divided by the best rival's, or how much more it is; or NaN.
func (b bar) ratio(s *sheet, line string) (ratio float64, rival string) {
	ratio = math.NaN()
	for _, name := range b.rivals {
		against := s.ratio(line, name)
		if b.more {
			against = s.median(line, s.base) - s.median(line, name)
		}
		if math.IsNaN(against) {
			continue
		}
		// The best rival is the one that gomx looks worst beside.
		if math.IsNaN(ratio) || (against < ratio) == s.higher {
			ratio, rival = against, name
		}
	}
	return ratio, rival
}

// measuredRivals are those that have a column.
func (b bar) measuredRivals(s *sheet) []string {
	return slices.DeleteFunc(slices.Clone(b.rivals), func(name string) bool { return !slices.Contains(s.columns, name) })
}

// words are the bar in words.
func (b bar) words(s *sheet) string {
	what, bound := "half round trip", "at most"
	switch b.quantity {
	case "rate":
		what = "message rate"
	case "bandwidth":
		what = "bandwidth"
	case "latency":
	default:
		what = strings.Replace(b.quantity, "-", " ", 1)
	}
	if s.higher {
		bound = "at least"
	}
	lines := b.measured()
	sizes := lines[0]
	if last := len(lines) - 1; last > 0 {
		sizes += " to " + lines[last]
	}
	than := strings.Join(b.measuredRivals(s), " and ")
	if len(b.rivals) > 1 {
		than = "the best of " + than
	}
	limit := fmt.Sprintf("%.2f x", b.limit)
	if b.more {
		limit = fmt.Sprintf("%.2f %s more than", b.limit, s.unit)
	}
	return fmt.Sprintf("%s over %v, %s: %s %s %s", what, b.medium, sizes, bound, limit, than)
}

// writeBars prints the judgements for people at a terminal.
func writeBars(w io.Writer, all []judgement) error {
	if len(all) == 0 {
		return nil
	}
	var text strings.Builder
	text.WriteString("\nWhat gomx is meant to reach\n")
	for _, j := range all {
		fmt.Fprintf(&text, "  %-*s  %s\n  %*s  %s\n", len(notMeasured), j.Verdict, j.Bar, len(notMeasured), "", j.figures)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// markdownBars are the judgements as a table for the documentation.
func markdownBars(all []judgement) string {
	if len(all) == 0 {
		return ""
	}
	text := "\nWhat gomx is meant to reach:\n\n" + markdownLine([]string{"bar", "measured", "verdict"}) + "|---|---|---|\n"
	for _, j := range all {
		text += markdownLine([]string{j.Bar, j.figures, j.Verdict})
	}
	return text
}

func encodeBars(encoder *json.Encoder, all []judgement) error {
	for _, j := range all {
		if err := encoder.Encode(j); err != nil {
			return err
		}
	}
	return nil
}
