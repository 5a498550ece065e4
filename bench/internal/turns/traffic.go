package turns

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// passed is what has passed the devices of this machine.
type passed struct {
	bytes   uint64 // received by all network interfaces, loopback included; 0 where the system doesn't say
	packets uint64 // sent by all Soft-RoCE devices; 0 if there are none. Cards don't count what does not leave them.
}

func countTraffic() passed { return passed{networkBytes(), softwarePackets()} }

const (
	// segmentHead is the least that a TCP segment carries beside its payload: the headers of IP and TCP.
	segmentHead = 40
	// packetMax is the most that an RDMA packet carries.
	packetMax = 4096
)

// check returns an error if less than the row's messages has passed while it ran: then what was measured took another
// way. A library that was asked for TCP or RDMA may silently know a better one. Half is proof enough.
func (r Row) check(over string, ops int, before, after passed) error {
	if r.Traffic == uncounted {
		return nil
	}
	bytes, packets := r.Length, max(1, (r.Length+packetMax-1)/packetMax)
	if r.Traffic == Pings { // of a window many may share a segment
		bytes += segmentHead
	}
	switch {
	case over == TCP && after.bytes > 0:
		if seen, least := after.bytes-before.bytes, uint64(ops)*uint64(bytes); seen < least/2 {
			return fmt.Errorf("not measured over TCP: the network interfaces saw %d bytes, and %d are the least", seen, least)
		}
	case over == RDMA && after.packets > 0:
		if seen, least := after.packets-before.packets, uint64(ops)*uint64(packets); seen < least/2 {
			return fmt.Errorf("not measured over RDMA: the devices sent %d packets, and %d are the least", seen, least)
		}
	}
	return nil
}
func networkBytes() uint64 {
	text, err := os.ReadFile("/proc/net/dev")
	if err != nil {
		return 0
	}
	return receivedBytes(string(text))
}

func receivedBytes(table string) (sum uint64) {
	for line := range strings.Lines(table) {
		_, counters, ok := strings.Cut(line, ":")
		fields := strings.Fields(counters)
		if !ok || len(fields) == 0 {
			continue
		}
		received, _ := strconv.ParseUint(fields[0], 10, 64)
		sum += received
	}
	return sum
}

// softwarePackets reads the counters that only Soft-RoCE has.
func softwarePackets() (sum uint64) {
	files, _ := filepath.Glob(devicesFolder + "/*/ports/*/hw_counters/sent_pkts")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		sent, _ := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
		sum += sent
	}
	return sum
}
