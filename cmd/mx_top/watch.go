package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"gomx/cmd/mx_top/internal/terminal"
)

// What terminals since the VT100 obey.
const (
	home      = "\x1b[H"
	clearLine = "\x1b[K"
	clearRest = "\x1b[J"
	bold      = "\x1b[1m"
	reverse   = "\x1b[7m"
	plain     = "\x1b[0m"
)

// watch shows views in the terminal until somebody presses q.
func watch(o *options, c *collector, stdin io.Reader, stdout io.Writer, interrupted <-chan os.Signal) error {
	t, err := terminal.Open(stdin, stdout)
	if errors.Is(err, terminal.ErrNone) || errors.Is(err, terminal.ErrDumb) {
		err = fmt.Errorf("%w: give -once, -json or -http", err)
	}
	if err != nil {
		return err
	}
	defer func() { _ = t.Close() }()
	v, err := c.collect()
	if err != nil {
		return err
	}
	s := &screen{}
	turn := time.NewTicker(o.every)
	defer turn.Stop()
	for {
		width, height, err := t.Size()
		if err != nil {
			return err
		}
		t.Draw(s.frame(v, width, height))
		select {
		case key, open := <-t.Keys():
			if !open || !s.press(key) {
				return nil
			}
		case <-turn.C:
			if s.paused {
				continue
			}
			if v, err = c.collect(); err != nil {
				return err
			}
		case err = <-t.Lost():
			return err
		case <-interrupted:
			return nil
		}
	}
}

// screen is what the reader has chosen to see.
type screen struct {
	part   int
	top    int // the first line of the part that is shown
	page   int // lines of the part that fit
	lines  int
	by     order
	paused bool
	help   bool
}

// parts are what there is to see, by the keys 1 to 4.
var parts = []struct {
	title string
	lines func(s *screen, v *view) []string
}{
	{"load", func(s *screen, v *view) []string { return v.endpointLines(s.by) }},
	{"who talks to whom", func(_ *screen, v *view) []string { return v.matrixLines() }},
	{"who waits for whom", func(_ *screen, v *view) []string { return v.waitLines() }},
	{"requests", func(_ *screen, v *view) []string { return v.requestLines(mostRequests) }},
}

const helpOfKeys = `1 to 4, Tab   load, who talks to whom, who waits for whom, requests
arrows, Page  scroll; g and G go to the beginning and the end
s             sort endpoints by rank, rate, bandwidth or depth
p             pause
?             this text, or back
q             end`

// press does what a key says. False: it is the end.
func (s *screen) press(key string) bool {
	step := map[string]int{"j": 1, "\x1b[B": 1, "\x1bOB": 1, "k": -1, "\x1b[A": -1, "\x1bOA": -1,
		" ": s.page, "\x1b[6~": s.page, "\x1b[5~": -s.page, "g": -s.lines, "\x1b[H": -s.lines, "G": s.lines, "\x1b[F": s.lines}[key]
	switch key {
	case "q", "\x03", "\x04":
		return false
	case "1", "2", "3", "4":
		s.part, s.top, s.help = int(key[0]-'1'), 0, false
	case "\t":
		s.part, s.top, s.help = (s.part+1)%len(parts), 0, false
	case "s":
		s.by = (s.by + 1) % orders
	case "p":
		s.paused = !s.paused
	case "?", "h":
		s.help = !s.help
	}
	s.top += step
	return true
}

// frame draws a view into so many columns and lines.
func (s *screen) frame(v *view, width, height int) string {
	var b strings.Builder
	b.WriteString(home)
	draw := func(style, line string) {
		b.WriteString(style + cut(line, width) + plain + clearLine)
	}
	head := v.summary()
	if s.paused {
		head = "paused  " + head
	}
	draw(bold, head)
	b.WriteString("\r\n")
	var tabs []string
	for i, p := range parts {
		name := string(rune('1'+i)) + " " + p.title
		if i == s.part {
			name = "[" + name + "]"
		}
		tabs = append(tabs, name)
	}
	draw(reverse, strings.Join(tabs, "  ")+"  by "+orderNames[s.by]+"  ? keys  q end")
	lines := parts[s.part].lines(s, v)
	if s.help {
		lines = strings.Split(helpOfKeys, "\n")
	}
	if len(lines) == 0 {
		lines = []string{"nothing"}
	}
	s.lines, s.page = len(lines), max(1, height-2)
	s.top = max(0, min(s.top, len(lines)-s.page))
	for _, line := range lines[s.top:min(len(lines), s.top+s.page)] {
		b.WriteString("\r\n")
		draw("", line)
	}
	b.WriteString(clearRest)
	return b.String()
}

func cut(line string, width int) string {
	if letters := []rune(line); len(letters) > width {
		return string(letters[:max(0, width)])
	}
	return line
}
