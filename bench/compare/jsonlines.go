package main

import (
	"encoding/json"
	"io"
	"math"
)

// jsonLine is what -json prints for each line of each table. Figures that could
// not be measured are left out.
type jsonLine struct {
	Medium   string               `json:"medium"`
	Quantity string               `json:"quantity"`
	Line     string               `json:"line"`
	Length   int                  `json:"length"`
	Unit     string               `json:"unit"`
	Better   string               `json:"better"`
	Median   map[string]float64   `json:"median"`
	Ratio    map[string]float64   `json:"ratio,omitempty"`
	Rounds   map[string][]float64 `json:"rounds"`
}

// writeJSON prints one object a line, and after them one for each bar.
func writeJSON(w io.Writer, r *report) error {
	encoder := json.NewEncoder(w)
	for _, s := range r.sheets {
		for _, line := range s.lines {
			if err := encoder.Encode(s.jsonLine(line)); err != nil {
				return err
			}
		}
	}
	return encodeBars(encoder, r.judge())
}

func (s *sheet) jsonLine(line string) jsonLine {
	out := jsonLine{
		Medium: string(s.medium), Quantity: s.quantity, Line: line, Length: s.lengths[line], Unit: s.unit, Better: "lower",
		Median: map[string]float64{}, Ratio: map[string]float64{}, Rounds: map[string][]float64{},
	}
	if s.higher {
		out.Better = "higher"
	}
	for _, column := range s.columns {
		if samples := s.cells[cell{line, column}]; len(samples) > 0 {
			out.Median[column], out.Rounds[column] = s.median(line, column), samples
		}
	}
	for _, other := range s.others() {
		if ratio := s.ratio(line, other); !math.IsNaN(ratio) {
			out.Ratio[other] = ratio
		}
	}
	return out
}
