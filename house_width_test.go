package gomx_test

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

var rewrap = flag.Bool("rewrap", false, "wrap the paragraphs of documents that are too wide, in place")

// columns is the width of documents. The rows of tables may be wider, since they can't be broken.
const columns = 120

// TestWidthOfDocuments holds documents to their width, and with -rewrap brings paragraphs to it.
func TestWidthOfDocuments(t *testing.T) {
	for name, text := range documents(t) {
		if *rewrap {
			wrapped := wrap(text)
			if strings.Join(strings.Fields(wrapped), " ") != strings.Join(strings.Fields(text), " ") {
				t.Errorf("%s would read otherwise if it were wrapped: do it by hand", name)
			} else if wrapped != text {
				if err := os.WriteFile(name, []byte(wrapped), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			text = wrapped
		}
		for number, line := range strings.Split(text, "\n") {
			if n := utf8.RuneCountInString(line); n > columns && !strings.HasPrefix(line, "|") {
				t.Errorf("%s:%d has %d columns, more than %d: go test -run Width -rewrap . wraps paragraphs", name, number+1, n, columns)
			}
		}
	}
}

var (
	itemPattern = regexp.MustCompile(`^ *([-*]|\d+\.) +`)
	codeSpan    = regexp.MustCompile("`[^`]*`")
	markup      = regexp.MustCompile(`^([-*+]|\d+[.)]|#+|>|\|)$`)
)

// wrap brings paragraphs and items of lists to the width, where one of their lines is beyond it. Headings, tables, code
// and pictures stay as they are.
func wrap(text string) string {
	var out, paragraph []string
	flush := func() {
		out, paragraph = append(out, wrapParagraph(paragraph)...), nil
	}
	fenced := false
	for line := range strings.SplitSeq(text, "\n") {
		fence := strings.HasPrefix(strings.TrimLeft(line, " "), "```")
		switch {
		case fenced || fence:
			flush()
			out, fenced = append(out, line), fenced != fence
		case strings.TrimSpace(line) == "", strings.ContainsAny(line[:1], "|#"), strings.HasPrefix(line, "!["),
			paragraph == nil && strings.HasPrefix(line, "    "):
			flush()
			out = append(out, line)
		case itemPattern.MatchString(line):
			flush()
			paragraph = []string{line}
		default:
			paragraph = append(paragraph, line)
		}
	}
	flush()
	return strings.Join(out, "\n")
}

// wrapParagraph fills lines with the words of those given. What stands between backquotes stays on one line, and no
// line begins with what would be the mark of a list.
func wrapParagraph(lines []string) (wrapped []string) {
	wide := false
	for _, line := range lines {
		wide = wide || utf8.RuneCountInString(line) > columns
	}
	if !wide {
		return lines
	}
	first := itemPattern.FindString(lines[0])
	if first == "" {
		first = lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], " "))]
	}
	all := codeSpan.ReplaceAllStringFunc(strings.Join(lines, "\n")[len(first):], func(code string) string {
		return strings.ReplaceAll(strings.ReplaceAll(code, "\n", " "), " ", "\x00")
	})
	line, begun := first, false
	for _, word := range strings.Fields(all) {
		length := utf8.RuneCountInString(line) + 1 + utf8.RuneCountInString(word)
		switch {
		case !begun:
			line += word
		case length > columns:
			if cut := strings.LastIndex(line, " "); markup.MatchString(word) { // the word before it goes along
				line, word = line[:cut], line[cut+1:]+" "+word
			}
			wrapped = append(wrapped, strings.ReplaceAll(line, "\x00", " "))
			line = strings.Repeat(" ", len(first)) + word
		default:
			line += " " + word
		}
		begun = true
	}
	return append(wrapped, strings.ReplaceAll(line, "\x00", " "))
}

// TestWrap tries what documents have in them.
func TestWrap(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("wordy ", 30)) // 179 columns
	half := strings.TrimSpace(strings.Repeat("wordy ", 20))
	rest := strings.TrimSpace(strings.Repeat("wordy ", 10))
	kept := "# " + long + "\n\n| " + long + " |\n\n```\n" + long + "\n```\n\n    " + long + "\n\nshort\nlines\n"
	for _, c := range [][2]string{
		{long, half + "\n" + rest},
		{"- " + long + "\n- short", "- " + half[:len(half)-6] + "\n  wordy " + rest + "\n- short"},
		{kept, kept},
		{half[:113] + " `a b c` end", half[:113] + "\n`a b c` end"},
		{half + " 1. end", half[:len(half)-6] + "\nwordy 1. end"},
	} {
		got := wrap(c[0])
		if got != c[1] {
			t.Errorf("wrapped\n%s\nis\n%s\nwant\n%s", c[0], got, c[1])
		}
		if again := wrap(got); again != got {
			t.Errorf("wrapped again\n%s\nis\n%s", got, again)
		}
	}
}
