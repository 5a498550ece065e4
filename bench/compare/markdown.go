package main

import (
	"fmt"
	"io"
	"strings"
)

// writeMarkdown prints every sheet as a table for the documentation.
func writeMarkdown(w io.Writer, r *report) error {
	var text strings.Builder
	fmt.Fprintf(&text, "%s\n", r.heading())
	if len(r.ways) > 0 {
		text.WriteString("\n")
	}
	for _, way := range r.ways {
		fmt.Fprintf(&text, "- %s\n", way)
	}
	for _, s := range r.sheets {
		fmt.Fprintf(&text, "\n%s, %s (ratio %s):\n\n", s.title, s.unit, s.verdict())
		head, lines := s.grid()
		text.WriteString(markdownLine(head))
		text.WriteString("|---|" + strings.Repeat("---:|", len(head)-1) + "\n")
		for _, words := range lines {
			text.WriteString(markdownLine(words))
		}
	}
	text.WriteString(markdownBars(r.judge()))
	_, err := io.WriteString(w, text.String())
	return err
}

func markdownLine(words []string) string {
	return "| " + strings.Join(words, " | ") + " |\n"
}
