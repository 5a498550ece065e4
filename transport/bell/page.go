//go:build linux

package bell

import "gomx/transport/internal/segment"

// The control page holds nothing but the word, alone on its line: all peers can write
// all of it.
const (
	pageSize   = 4096
	wordOffset = 64
)

// What the word holds besides 0, awake. Without a way, awake too: whoever rings fences, and takes one generation off.
const (
	wayFutex   = 1
	wayEvent   = 2
	ways       = 3
	ringing    = 4
	generation = 8

	fencedRings = 64 // rings after which an owner who has not armed again is one who polls
	fencing     = fencedRings * generation
)

// word returns the bell's word. The page is a whole one and wordOffset aligned.
func word(page *segment.Mem) *uint32 {
	w, _ := segment.Word32(page.Bytes(), wordOffset)
	return w
}
