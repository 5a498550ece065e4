package main

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// labels returns writers, one for each rank, that put the rank before each line. A line goes out in
// one piece.
func labels(to io.Writer, ranks int) func(rank int) io.Writer {
	var mu sync.Mutex
	width := len(fmt.Sprint(ranks - 1))
	return func(rank int) io.Writer {
		return &labeller{to: to, mu: &mu, label: fmt.Appendf(nil, "[%*d] ", width, rank)}
	}
}

type labeller struct {
	to    io.Writer
	mu    *sync.Mutex // of to
	label []byte
	line  []byte // that has no end yet
	cut   bool   // what was written last is a part of a long line, which goes on or ends here
}

// longestPart is how much of a line is kept back. A longer one is written in parts, each as a line.
const longestPart = 64 << 10

// Write writes the lines that have come to their end, and keeps the rest.
func (l *labeller) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		if l.cut {
			if l.cut = false; b[0] == '\n' { // the part has one already
				b = b[1:]
				continue
			}
		}
		end := bytes.IndexByte(b, '\n') + 1
		part := b
		if end > 0 {
			part = b[:end]
		}
		if len(l.line) == 0 {
			l.line = append(l.line, l.label...)
		}
		l.line = append(l.line, part...)
		b = b[len(part):]
		if end > 0 || len(l.line) > longestPart {
			l.cut = end == 0
			if err := l.flush(); err != nil {
				return n - len(b), err
			}
		}
	}
	return n, nil
}

func (l *labeller) flush() error {
	if len(l.line) == 0 {
		return nil
	}
	if l.line[len(l.line)-1] != '\n' {
		l.line = append(l.line, '\n')
	}
	l.mu.Lock()
	_, err := l.to.Write(l.line)
	l.mu.Unlock()
	l.line = l.line[:0]
	return err
}

// Close writes a last line that has no end.
func (l *labeller) Close() error { return l.flush() }
