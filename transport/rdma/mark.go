//go:build linux && cgo

package rdma

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
)

// Soft-RoCE has been seen to end a read as if all were well and to have written nothing, or all but the
// last packet, after packets were lost. As its source reads, it takes the answers to a read for old ones when a
// request behind the read was lost.
// So the last bytes of where a read goes to are made such as nobody guesses, and if they are the same after it,
// nothing has come. That is done for this driver alone. By chance that is so of bytes that have come, too; those come once more, by pipelined rendezvous.
const (
	markSize    = 8
	leastPacket = 256 // the smallest MTU there is: the last packet of a read has so many bytes, or fewer
)

// readEnd is where in the message a read ends, and of how many bytes from there back it is known that they
// come in one packet.
type readEnd struct{ at, last int }

// softParent is what the driver of Soft-RoCE, and no other, has in a device's folder: the network interface that it runs on.
const softParent = "parent"

// soft reports whether the device of a port is Soft-RoCE.
func (s sysfs) soft(p *Port) bool { return text(s.path(p.Device), softParent) != "" }

// mark prepares where a read of n bytes goes to, which is the next one.
func (g *pull) mark(n int) {
	if len(g.ends) == 0 {
		binary.LittleEndian.PutUint64(g.marked[:], rand.Uint64())
	}
	end := readEnd{at: n, last: min(markSize, (n-1)%leastPacket+1)}
	if last := len(g.ends) - 1; last >= 0 {
		end.at += g.ends[last].at
	}
	g.ends = append(g.ends, end)
	g.landing.Scatter(end.at-end.last, g.marked[:end.last])
}

// arrived reports whether all reads have written to their ends.
func (g *pull) arrived() bool {
	var room [markSize]byte
	for _, end := range g.ends {
		b := room[:end.last]
		g.landing.Gather(b, end.at-end.last)
		if bytes.Equal(b, g.marked[:end.last]) {
			return false
		}
	}
	return true
}
