package pmi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Longest lines, in bytes, the line break among them.
const (
	longestCommand = 1023     // that Slurm reads whole
	longestAnswer  = 64 << 10 // that we read
)

// line is a command or an answer.
type line struct {
	name   string
	values map[string]string
	text   string // as it came, for complaints
}

// beforeReason begins the last field of an abort, whose value goes on to the end of the line: clients of MPICH leave the blanks in it.
const beforeReason = " message="

// parseLine takes a line apart. Fields come in any order and with any blanks between them; a
// backslash takes the meaning from the character after it.
func parseLine(text string) (line, error) {
	l := line{values: map[string]string{}, text: text}
	fixed := text
	if strings.HasPrefix(text, "cmd=abort ") {
		fixed, l.values["message"], _ = strings.Cut(text, beforeReason)
	}
	for _, field := range fields(fixed) {
		key, value, ok := strings.Cut(field, "=")
		if !ok || key == "" {
			return l, fmt.Errorf("%q is no key=value", shown(field))
		}
		if key == "cmd" || key == "mcmd" {
			l.name = value
			continue
		}
		l.values[key] = value
	}
	if l.name == "" {
		return l, fmt.Errorf("%q names no command", shown(text))
	}
	return l, nil
}

// fields splits at blanks that no backslash precedes.
func fields(text string) (all []string) {
	var field []byte
	inside := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			field = append(field, text[i])
			inside = true
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			if inside {
				all = append(all, string(field))
			}
			field, inside = field[:0], false
		default:
			field = append(field, c)
			inside = true
		}
	}
	if inside {
		all = append(all, string(field))
	}
	return all
}

// failure returns what an answer says went wrong, nil for nothing.
func (l *line) failure() error {
	if rc := l.values["rc"]; rc == "" || rc == "0" {
		return nil
	}
	if msg := l.values["msg"]; msg != "" {
		return fmt.Errorf("the launcher answers %q", shown(msg))
	}
	return fmt.Errorf("the launcher answers rc=%s", shown(l.values["rc"]))
}

// ErrTooLong says that a line is longer than this package reads.
var ErrTooLong = errors.New("a line without an end")

// readLine reads up to the next line break.
func readLine(r *bufio.Reader, longest int) (string, error) {
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		text = append(text, part...)
		switch {
		case len(text) > longest:
			return "", fmt.Errorf("%w: it begins with %q", ErrTooLong, shown(string(text)))
		case err == nil:
			return string(text[:len(text)-1]), nil
		case errors.Is(err, io.EOF) && len(text) > 0:
			return "", fmt.Errorf("the connection ended within a line, after %q", shown(string(text)))
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
}

// shown cuts what somebody else said to a length that a message can hold.
func shown(text string) string {
	const most = 60
	if len(text) > most {
		return text[:most] + "..."
	}
	return text
}
