package launch

import "unicode/utf8"

// MaxReason is how much of the reason of an Abort reaches the other ranks and the launcher, bytes. What is longer is cut.
const MaxReason = 1000

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
