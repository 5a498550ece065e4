package hang

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// longestTable is how many ranks the table shows, and longestWaits how many requests
// of a rank.
const (
	longestTable = 64
	longestWaits = 8
)

// Text returns the report for people: the table of ranks, the groups, and what follows.
func (r *Report) Text() string {
	var b strings.Builder
	r.table(&b)
	b.WriteString("groups:\n")
	for _, g := range r.Groups {
		fmt.Fprintf(&b, "  %s: %s\n", ranksOf(g.Ranks), g.What)
	}
	b.WriteString(r.Verdict())
	return b.String()
}

func (r *Report) table(b *strings.Builder) {
	fmt.Fprintf(b, "%6s  %s\n", "rank", "what it does")
	shown := 0
	for i := range r.job.ranks {
		if shown++; shown > longestTable {
			fmt.Fprintf(b, "        and %d more ranks, see the groups\n", len(r.job.ranks)-longestTable)
			return
		}
		for n, line := range r.job.lines(i) {
			if n == 0 {
				fmt.Fprintf(b, "%6d  %s\n", i, line)
			} else {
				fmt.Fprintf(b, "        %s\n", line)
			}
		}
	}
}

// lines describes a rank.
func (j *job) lines(r int) (out []string) {
	rank := &j.ranks[r]
	if !j.waits(r) {
		out = append(out, j.place(r))
	}
	for _, w := range rank.Waits {
		if j.waits(r) {
			out = append(out, j.wait(w, true))
		}
	}
	for i, n := range rank.Pending {
		if i == longestWaits {
			out = append(out, fmt.Sprintf("and %d more requests", len(rank.Pending)-i))
			break
		}
		out = append(out, "pending: "+j.need(n, true)+details(n))
	}
	return out
}

// wait describes a call that blocks. Without detail the words are the same for ranks
// that are in the same call.
func (j *job) wait(w Wait, detail bool) string {
	var b strings.Builder
	ranks := connects(w)
	single := len(w.Needs) == 1 && w.Needs[0].Op == w.Call || ranks != nil
	switch {
	case ranks != nil && detail:
		b.WriteString(strings.Replace(j.need(w.Needs[0], true), direction(w.Needs[0]), "to "+ranksOf(ranks), 1))
	case single:
		b.WriteString(j.need(w.Needs[0], detail))
	default:
		fmt.Fprintf(&b, "%s of %d requests", w.Call, len(w.Needs))
	}
	if !detail {
		return b.String()
	}
	if single {
		b.WriteString(details(w.Needs[0]))
	}
	fmt.Fprintf(&b, ", for %s%s%s", atLeast(w), seconds(w.Age), end(w))
	for i := range w.Needs {
		if single {
			break
		}
		if i == longestWaits {
			fmt.Fprintf(&b, "; and %d more", len(w.Needs)-i)
			break
		}
		fmt.Fprintf(&b, "; %s%s", j.need(w.Needs[i], true), details(w.Needs[i]))
	}
	return b.String()
}

func atLeast(w Wait) string {
	if w.Least {
		return "at least "
	}
	return ""
}

// connects returns the ranks that a call connects with, if it does nothing else and there are several.
func connects(w Wait) (ranks []int) {
	for _, n := range w.Needs {
		if n.Kind != Answer || n.Op != w.Call || n.Stage != w.Needs[0].Stage {
			return nil
		}
		ranks = append(ranks, n.Peer)
	}
	if len(ranks) < 2 {
		return nil
	}
	return ranks
}

// need describes a request or a collective, with its peer or without.
func (j *job) need(n Need, peer bool) string {
	if n.Kind == Collective {
		return fmt.Sprintf("%s #%d of %s", n.Op, n.Tag, j.name(n.Comm))
	}
	s := n.Op
	if peer {
		s += " " + direction(n)
	}
	switch {
	case n.Kind == Lock || n.Kind == Answer:
	case n.Tag == Any:
		s += ", any tag"
	default:
		s += fmt.Sprintf(", tag %d", n.Tag)
	}
	if n.Comm != "" {
		s += ", " + j.name(n.Comm)
	}
	return s
}

func direction(n Need) string {
	who := fmt.Sprintf("rank %d", n.Peer)
	if n.Peer == Any {
		who = "any rank"
	}
	switch n.Kind {
	case Recv:
		return "from " + who
	case Lock:
		return "at " + who
	}
	return "to " + who
}

func details(n Need) string {
	s := ""
	if n.Kind == Recv || n.Kind == Send {
		s += fmt.Sprintf(", %d B", n.Bytes)
	}
	if n.Stage != "" {
		s += " (" + n.Stage + ")"
	}
	return s
}

// end says what ends a call by itself.
func end(w Wait) string {
	switch {
	case !w.Ends:
		return ""
	case w.Left > 0:
		return ", or until the deadline of its context in " + seconds(w.Left)
	}
	return ", or until its context ends"
}

func seconds(s float64) string { return fmt.Sprintf("%.1f s", s) }

// Verdict returns the last part of the text: cycles, collectives that don't fit, and
// the ranks that others wait for.
func (r *Report) Verdict() string {
	var b strings.Builder
	for _, c := range r.Cycles {
		b.WriteString(r.job.cycleText(c))
	}
	for _, m := range r.Mismatches {
		b.WriteString(m.text())
	}
	for i, c := range r.Causes {
		if i == longestWaits {
			fmt.Fprintf(&b, "and %d more ranks that others wait for\n", len(r.Causes)-i)
			break
		}
		b.WriteString(r.job.causeText(c, i == 0 && len(r.Cycles) == 0))
	}
	if b.Len() > 0 {
		return b.String()
	}
	if all := r.job.together(); all != nil {
		return fmt.Sprintf("all ranks of %s are in %s #%d: if that lasts, they have given it different lengths or roots; MX_CHECK=1 says which\n",
			r.job.name(all.Comm), all.Op, all.Tag)
	}
	return "no cycle, and no rank that others wait for\n"
}

// Reason says in a line why the job can't go on, if that is certain.
func (r *Report) Reason() string {
	line := ""
	for _, m := range r.Mismatches {
		if m.Certain {
			line = m.text()
			break
		}
	}
	if len(r.Cycles) > 0 && r.Cycles[0].Certain {
		line = r.job.cycleText(r.Cycles[0])
	}
	return strings.TrimSuffix(line, "\n")
}

// Headline is Reason, or what stands at the head of the verdict if nothing is certain.
func (r *Report) Headline() string {
	if reason := r.Reason(); reason != "" {
		return reason
	}
	line, _, _ := strings.Cut(r.Verdict(), "\n")
	return line
}

func (j *job) cycleText(c Cycle) string {
	var b strings.Builder
	switch {
	case c.Gone && c.Certain:
		b.WriteString("never ends: ")
	case c.Certain:
		b.WriteString("deadlock: ")
	default:
		fmt.Fprintf(&b, "possible deadlock (if %s): ", c.If)
	}
	for i, s := range c.Steps {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "rank %d waits for rank %d in %s", s.Rank, s.Next, j.reason(s))
		if c.Gone {
			fmt.Fprintf(&b, ", which %s", j.ranks[s.Next].State)
		}
	}
	return b.String() + "\n"
}

func (m Mismatch) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "mismatch: collective #%d of %s is", m.Number, m.Comm)
	for i, g := range m.Calls {
		fmt.Fprintf(&b, "%s %s at %s", map[bool]string{true: " and", false: ""}[i > 0], g.What, ranksOf(g.Ranks))
	}
	return b.String() + "\n"
}

func (j *job) causeText(c Cause, first bool) string {
	head := "also waited for: "
	if first {
		head = "probable cause: "
	}
	state := string(c.State)
	if c.State == Waits {
		state = j.place(c.Rank)
	}
	s := fmt.Sprintf("%srank %d (%s): ", head, c.Rank, state)
	if c.Missed != "" {
		s += fmt.Sprintf("it has not come to %s; ", c.Missed)
		if c.Left {
			s += "others have left what it is in, perhaps by another collective that has failed there: MX_CHECK=1 says so; "
		}
	} else {
		s += fmt.Sprintf("rank %d waits for it in %s; ", c.Example.Rank, j.reason(c.Example))
	}
	if c.Victims == 1 {
		return s + "1 rank waits for it in all\n"
	}
	return s + fmt.Sprintf("%d ranks wait for it in all\n", c.Victims)
}

func (j *job) reason(s Step) string {
	text := j.need(s.Need, false)
	if s.Call == s.Need.Op {
		return text
	}
	return s.Call + " of " + text
}

// ranksOf writes ranks shortly: "ranks 0-3, 7".
func ranksOf(ranks []int) string {
	ranks = slices.Clone(ranks)
	slices.SortFunc(ranks, cmp.Compare)
	var b strings.Builder
	for i := 0; i < len(ranks); {
		k := i
		for k+1 < len(ranks) && ranks[k+1] == ranks[k]+1 {
			k++
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		if fmt.Fprint(&b, ranks[i]); k > i {
			fmt.Fprintf(&b, "-%d", ranks[k])
		}
		i = k + 1
	}
	if len(ranks) == 1 {
		return "rank " + b.String()
	}
	return "ranks " + b.String()
}
