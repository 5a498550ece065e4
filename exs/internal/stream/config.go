package stream

import (
	"errors"
	"fmt"
	"math"
)

// Config says how a direction of a connection works. The zero value of a field is
// its default. Sizes are bytes.
type Config struct {
	// BufferMin and BufferMax are the intermediate buffer's size at first and in the
	// end. They belong to the receiving end, whose peer must know BufferMin, and
	// whether there is a buffer. The defaults are 64 KiB and 1 MiB; NoBuffer as
	// BufferMax leaves the buffer out, and all transfers are direct.
	BufferMin, BufferMax int
	// Credits is the largest number of adverts outstanding, the same on both ends.
	// The default is 32.
	Credits int
	// MaxAdvertised bounds the bytes that are advertised at a time. The default is 8 MiB.
	MaxAdvertised int
	// Piece is the largest direct message; longer receives are advertised in pieces
	// if they have to be filled, and in part if not. The default is 1 MiB.
	Piece int
	// Segment is the largest indirect message. The default is 16 KiB.
	Segment int
	// DirectMin is the room below which a receive is not advertised, and the number
	// of bytes below which a part of an advert that wants to be filled is not worth a
	// direct message. At most Segment; the default is 4 KiB.
	DirectMin int
	// HoldMin makes sends with at least so much left ask for an advert, and wait one
	// round trip, if the receiver has been seen waiting. The default is never to.
	HoldMin int
}

// NoBuffer as BufferMax means direct transfers only.
const NoBuffer = -1

// ErrConfig is a Config that contradicts itself.
var ErrConfig = errors.New("stream: bad configuration")

// LargestBuffer is the most that BufferMax may be.
const LargestBuffer = largest

// largest keeps lengths within the messages' 32 bits, and sums within an int.
const largest = math.MaxInt32 / 2

// Complete returns c with the defaults filled in. Completing it again changes
// nothing. Error: ErrConfig, and which field it was.
func (c Config) Complete() (Config, error) {
	usual := func(field *int, size int) {
		if *field == 0 {
			*field = size
		}
	}
	usual(&c.BufferMax, 1<<20)
	usual(&c.BufferMin, min(64<<10, c.BufferMax))
	usual(&c.Credits, 32)
	usual(&c.MaxAdvertised, 8<<20)
	usual(&c.Piece, min(1<<20, c.MaxAdvertised))
	usual(&c.Segment, 16<<10)
	usual(&c.DirectMin, min(4<<10, c.Segment))
	if c.BufferMax == NoBuffer {
		c.BufferMin = NoBuffer
	}
	for _, f := range [...]struct {
		name     string
		is       int
		min, max int
	}{
		{"BufferMax", c.BufferMax, 1, LargestBuffer},
		{"BufferMin", c.BufferMin, 1, c.BufferMax},
		{"Credits", c.Credits, 1, 1 << 16},
		{"MaxAdvertised", c.MaxAdvertised, 1, largest},
		{"Piece", c.Piece, 1, c.MaxAdvertised},
		{"Segment", c.Segment, 1, largest},
		{"DirectMin", c.DirectMin, 1, min(c.Segment, c.Piece)},
		{"HoldMin", c.HoldMin, 0, math.MaxInt},
	} {
		without := f.is == NoBuffer && c.BufferMax == NoBuffer
		if !without && (f.is < f.min || f.is > f.max) {
			return c, fmt.Errorf("%w: %s is %d, not from %d to %d", ErrConfig, f.name, f.is, f.min, f.max)
		}
	}
	return c, nil
}

// buffered reports whether the receiving end has a buffer.
func (c *Config) buffered() bool { return c.BufferMax > 0 }

// window is what the sender may send before it has heard anything.
func (c *Config) window() int { return max(c.BufferMin, 0) }
