package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// How much of each part the plain table has.
const (
	mostBlocked = 20
	mostPairs   = 20
	mostOld     = 10
)

// text is the view as -once prints it.
func (v *view) text() string {
	var b strings.Builder
	part := func(title string, lines []string) {
		if len(lines) > 0 {
			fmt.Fprintf(&b, "%s\n%s\n\n", title, strings.Join(lines, "\n"))
		}
	}
	part(v.summary(), v.endpointLines(byRank))
	for i := range v.Jobs {
		part(v.Jobs[i].title(), v.Jobs[i].lines())
	}
	part("Who waits for whom", head(v.blockedLines(), 1+mostBlocked))
	part("Requests that are not complete, receives last, the oldest of each first", v.requestLines(mostOld))
	part("Who sends to whom", head(v.talkLines(), 1+mostPairs))
	return strings.TrimSuffix(b.String(), "\n")
}

// head returns the first lines, and says how many there are besides.
func head(lines []string, most int) []string {
	if len(lines) <= most {
		return lines
	}
	return append(slices.Clip(lines[:most]), fmt.Sprintf("and %d more", len(lines)-most))
}

// summary is the view in a line.
func (v *view) summary() string {
	sent, bytes := 0.0, 0.0
	pids := map[int]bool{}
	for i := range v.Endpoints {
		e := &v.Endpoints[i]
		sent, bytes = sent+e.Sent, bytes+e.SentBytes
		pids[e.PID] = true
	}
	s := fmt.Sprintf("%s  %s of %s, %s: %s messages/s, %s/s", v.Taken.Format("15:04:05"), plural(len(v.Endpoints), "endpoint"),
		plural(len(pids), "process"), plural(len(v.Jobs), "job"), short(sent), bytesText(bytes))
	if n := len(v.Silent); n > 0 {
		s += fmt.Sprintf("; %s does not answer", plural(n, "process"))
	}
	return s
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if strings.HasSuffix(what, "s") {
		what += "e"
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// table puts cells into columns. Cells of columns that begin with a "<" are flush left.
func table(columns []string, rows [][]string) []string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	widths := make([]int, len(columns))
	for _, row := range append([][]string{columns}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(strings.TrimPrefix(cell, "<"))))
		}
	}
	line := func(row []string) {
		for i, cell := range row {
			cell = strings.TrimPrefix(cell, "<")
			if !strings.HasPrefix(columns[i], "<") {
				cell = strings.Repeat(" ", widths[i]-len([]rune(cell))) + cell
			}
			if fmt.Fprint(w, cell); i < len(row)-1 {
				fmt.Fprint(w, "\t")
			}
		}
		fmt.Fprintln(w)
	}
	line(columns)
	for _, row := range rows {
		line(row)
	}
	_ = w.Flush() // into a text
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// order is what endpoints are sorted by.
type order int

// The orders, as the terminal goes through them.
const (
	byRank order = iota
	byRate
	byBandwidth
	byDepth
	orders
)

var orderNames = [orders]string{"rank", "rate", "bandwidth", "depth"}

// endpointLines is the table of endpoints, the headline first.
func (v *view) endpointLines(by order) []string {
	list := slices.Clone(v.Endpoints)
	key := [orders]func(*row) float64{
		byRank:      func(*row) float64 { return 0 },
		byRate:      func(e *row) float64 { return e.Sent + e.Received },
		byBandwidth: func(e *row) float64 { return e.SentBytes + e.ReceivedBytes },
		byDepth:     func(e *row) float64 { return float64(e.Posted + e.Pending + e.Unexpected) },
	}[by]
	slices.SortStableFunc(list, func(a, b row) int { return cmp.Compare(key(&b), key(&a)) })
	rows := make([][]string, 0, len(list))
	for i := range list {
		e := &list[i]
		rank := "-"
		if e.Rank >= 0 {
			rank = fmt.Sprint(e.Rank)
		}
		rows = append(rows, []string{rank, e.Name, fmt.Sprint(e.PID), short(e.Sent), short(e.Received), bytesText(e.SentBytes), bytesText(e.ReceivedBytes),
			fmt.Sprint(e.Posted), fmt.Sprint(e.Pending), fmt.Sprint(e.Unexpected), age(e.Oldest), e.Transports, e.Command})
	}
	return table([]string{"rank", "<endpoint", "pid", "sent/s", "recv/s", "sent B/s", "recv B/s", "posted", "pending", "unexp", "oldest", "<transports", "<command"}, rows)
}

func (j *job) title() string {
	return fmt.Sprintf("%s, job %s of %s, as of %s ago", j.Command, j.ID, plural(j.Size, "rank"), age(j.Age))
}

// lines is the hang report of a job, shortly: groups of ranks, and what follows from who waits for whom.
func (j *job) lines() []string {
	lines := []string{}
	for _, g := range j.Groups {
		lines = append(lines, "  "+g)
	}
	for _, s := range j.Verdict {
		lines = append(lines, "  "+s)
	}
	return lines
}

func (v *view) blockedLines() []string {
	var rows [][]string
	for _, s := range v.Silent {
		who := fmt.Sprintf("process %d", s.PID)
		if len(s.Ranks) > 0 {
			who += fmt.Sprintf(", rank %s", strings.Trim(fmt.Sprint(s.Ranks), "[]"))
		}
		rows = append(rows, []string{"<" + who, "", "", "", "", s.Error})
	}
	for _, b := range v.Blocked {
		rows = append(rows, []string{b.From, b.To, b.requests(), age(b.Oldest), b.Stage, b.Peer})
	}
	if rows == nil {
		return nil
	}
	return table([]string{"<endpoint", "<waits for", "<requests", "for", "<stage", "<which"}, rows)
}

// requests says how many there are of which kind.
func (b *blocked) requests() string {
	if b.More {
		return fmt.Sprintf("%d or more %s", b.Count, b.Kind)
	}
	return fmt.Sprintf("%d %s", b.Count, b.Kind)
}

// requestLines is the table of requests, at most so many of them, and says how many the endpoints have besides.
func (v *view) requestLines(most int) []string {
	if len(v.Requests) == 0 {
		return nil
	}
	list := v.Requests[:min(most, len(v.Requests))]
	var rows [][]string
	for _, q := range list {
		rows = append(rows, []string{age(q.Age), q.Endpoint, q.Kind, cmp.Or(q.Peer, "anyone"), q.Match, q.Mask, fmt.Sprint(q.Bytes), q.Stage})
	}
	lines := table([]string{"age", "<endpoint", "<kind", "<peer", "match", "mask", "bytes", "<waits for"}, rows)
	more := -len(list)
	for i := range v.Endpoints {
		more += v.Endpoints[i].Pending
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return lines
}

// talkLines is who sends how much to whom, those who send most first.
func (v *view) talkLines() []string {
	list := slices.Clone(v.Talk)
	slices.SortStableFunc(list, func(a, b pair) int { return cmp.Or(cmp.Compare(b.Rate, a.Rate), cmp.Compare(b.Frames, a.Frames)) })
	if len(list) == 0 {
		return nil
	}
	var rows [][]string
	for _, p := range list {
		rows = append(rows, []string{p.From, p.To, short(p.Rate), fmt.Sprint(p.Frames), p.Transport, p.Failure})
	}
	return table([]string{"<from", "<to", "frames/s", "frames", "<over", "<no link because"}, rows)
}

// short is a number in at most five letters.
func short(x float64) string {
	switch {
	case x == 0:
		return "0"
	case x < 10:
		return fmt.Sprintf("%.1f", x)
	case x < 9999.5:
		return fmt.Sprintf("%.0f", x)
	case x < 999.5e3:
		return fmt.Sprintf("%.0fk", x/1e3)
	case x < 999.5e6:
		return fmt.Sprintf("%.1fM", x/1e6)
	}
	return fmt.Sprintf("%.1fG", x/1e9)
}

func bytesText(x float64) string {
	switch {
	case x < 999.5:
		return fmt.Sprintf("%.0f B", x)
	case x < 999.5e3:
		return fmt.Sprintf("%.1f kB", x/1e3)
	case x < 999.5e6:
		return fmt.Sprintf("%.1f MB", x/1e6)
	}
	return fmt.Sprintf("%.1f GB", x/1e9)
}

func age(seconds float64) string {
	if seconds <= 0 {
		return "-"
	}
	d := time.Duration(seconds * float64(time.Second))
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
