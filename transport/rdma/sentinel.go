//go:build linux && cgo

package rdma

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
)

// After a loss of packets Soft-RoCE sometimes completes a read successfully although it has written nothing, or all
// but the last packet. Its source shows why: when a request behind the read was lost, it takes the responses to the
// read for old ones.
//
// So a read is accepted only if its trailing sentinel was overwritten: random bytes, which the last bytes of its memory
// are set to before the read. This is done for the driver of Soft-RoCE alone. If the bytes that arrive happen to equal
// the sentinel, they are fetched once more, by pipelined rendezvous.
const (
	sentinelSize = 8
	leastPacket  = 256 // the smallest MTU there is: the last packet of a read has so many bytes, or fewer
)

// readEnd is the offset in the message at which a read ends, and how many bytes before that offset certainly
// arrive in one packet.
type readEnd struct{ at, last int }

// softParent is a file in a device's folder that the driver of Soft-RoCE alone makes. It names the network interface of the device.
const softParent = "parent"

// soft reports whether the device of a port is Soft-RoCE.
func (s sysfs) soft(p *Port) bool { return text(s.path(p.Device), softParent) != "" }

// placeSentinel writes the sentinel at the end of the memory of the next read, which has n bytes.
func (g *pull) placeSentinel(n int) {
	if len(g.ends) == 0 {
		binary.LittleEndian.PutUint64(g.sentinel[:], rand.Uint64())
	}
	end := readEnd{at: n, last: min(sentinelSize, (n-1)%leastPacket+1)}
	if last := len(g.ends) - 1; last >= 0 {
		end.at += g.ends[last].at
	}
	g.ends = append(g.ends, end)
	g.landing.Scatter(end.at-end.last, g.sentinel[:end.last])
}

// arrived reports whether all reads have overwritten their sentinels.
func (g *pull) arrived() bool {
	var room [sentinelSize]byte
	for _, end := range g.ends {
		b := room[:end.last]
		g.landing.Gather(b, end.at-end.last)
		if bytes.Equal(b, g.sentinel[:end.last]) {
			return false
		}
	}
	return true
}
