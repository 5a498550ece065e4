package launch

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxReason is how much of the reason of an Abort reaches the other ranks and the launcher, bytes. What is longer is cut.
const MaxReason = 1000

// Reason puts the reason of an Abort in the form in which all get it: at most MaxReason bytes, with escapes in the place of what a terminal
// would not print as it is. Lines and tabs stay. Safe from any goroutine.
func Reason(text string) string { return printable(text, "\n\t", MaxReason) }

// MaxName is how many bytes of a name that a program has given to something are in messages.
const MaxName = 100

// Name puts such a name in a form that messages can have: as Reason, but at most MaxName bytes, and in one line. Safe from any goroutine.
func Name(text string) string { return printable(text, "", MaxName) }

// printable puts escapes in the place of what a terminal would not print as it is, and is not to be kept, and shortens the text.
func printable(text, keep string, longest int) string {
	var b strings.Builder
	for len(text) > 0 && b.Len() <= longest {
		r, n := utf8.DecodeRuneInString(text)
		if strings.ContainsRune(keep, r) || strconv.IsPrint(r) && (r != utf8.RuneError || n > 1) {
			b.WriteString(text[:n])
		} else {
			quoted := strconv.Quote(text[:n])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		text = text[n:]
	}
	return Shorten(b.String(), longest)
}

// Shorten returns a text of at most longest bytes (3 or more), with an ellipsis where something is missing. It does not cut characters in two.
// Safe from any goroutine.
func Shorten(text string, longest int) string {
	const mark = "..."
	if len(text) <= longest {
		return text
	}
	end := max(longest-len(mark), 0)
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + mark
}
