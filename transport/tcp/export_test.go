//go:build linux

package tcp

// What docs/wire.md has figures of.
const (
	HelloSize    = helloSize
	Version      = version
	Handshakes   = handshakes
	LeastStay    = leastStay
	FirstPause   = firstPause
	LongestPause = longestPause
	NextAddress  = nextAddress
	CloseBound   = closeBound
	LingerBound  = lingerBound
	LastAnswer   = tlsUnknown
)

// AnswerText returns what an answer means to the side that gets it.
func AnswerText(n int) string { return answer(n).String() }
