package main

import (
	"fmt"
	"math"
	"strings"
)

// shades are rates from none to the highest.
const shades = ".:-=+*#%@"

// matrixLines shows who sends to whom among the ranks of each job, a letter for each pair, and without a job a list.
func (v *view) matrixLines() (lines []string) {
	for i := range v.Jobs {
		j := &v.Jobs[i]
		places := map[string]int{}
		for _, r := range j.Ranks {
			if r.Endpoint != "" {
				places[r.Endpoint] = r.Rank
			}
		}
		most := 0.0
		cells := map[[2]int]pair{}
		for _, p := range v.Talk {
			from, known := places[p.From]
			to, known2 := places[p.To]
			if known && known2 {
				cells[[2]int{from, to}] = p
				most = max(most, p.Rate)
			}
		}
		lines = append(lines, fmt.Sprintf("%s: a row sends, a column receives; %s is up to %s frames/s", j.title(), shades[len(shades)-1:], short(most)))
		lines = append(lines, matrixHead(j.Size)...)
		for from := range j.Size {
			var b strings.Builder
			fmt.Fprintf(&b, "%5d ", from)
			for to := range j.Size {
				b.WriteByte(shade(cells[[2]int{from, to}], most))
			}
			lines = append(lines, b.String())
		}
		lines = append(lines, "")
	}
	return append(lines, v.talkLines()...)
}

// matrixHead numbers the columns downwards: tens above ones.
func matrixHead(n int) (lines []string) {
	for unit := 100; unit > 0; unit /= 10 {
		if n <= unit && unit > 1 {
			continue
		}
		b := []byte("      ")
		for i := range n {
			digit := byte('0' + i/unit%10)
			if i < unit && unit > 1 {
				digit = ' '
			}
			b = append(b, digit)
		}
		lines = append(lines, string(b))
	}
	return lines
}

func shade(p pair, most float64) byte {
	switch {
	case p.Frames == 0:
		return ' '
	case p.Rate == 0:
		return shades[0]
	}
	return shades[1+int(math.Round(float64(len(shades)-2)*math.Log1p(p.Rate)/math.Log1p(most)))]
}

// waitLines is the hang report of each job, with what each rank does, and the endpoints that are blocked.
func (v *view) waitLines() (lines []string) {
	for i := range v.Jobs {
		j := &v.Jobs[i]
		lines = append(lines, j.title())
		lines = append(lines, j.lines()...)
		for _, r := range j.Ranks {
			for n, line := range r.Lines {
				if n == 0 {
					line = fmt.Sprintf("  %5d  %s", r.Rank, line)
				} else {
					line = "         " + line
				}
				lines = append(lines, line)
			}
		}
		lines = append(lines, "")
	}
	return append(lines, v.blockedLines()...)
}
