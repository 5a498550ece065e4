package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// traffic is what has passed the devices of this machine.
type traffic struct {
	bytes   uint64 // received by all network interfaces, loopback included; 0 where the system doesn't say
	packets uint64 // sent by all Soft-RoCE devices; 0 if there are none. Cards don't count what does not leave them.
}

func countTraffic() traffic { return traffic{networkBytes(), softwarePackets()} }

const (
	// segmentHead is the least that a TCP segment carries beside its payload: the
	// headers of IP and TCP.
	segmentHead = 40
	// packetMax is the most that an RDMA packet carries.
	packetMax = 4096
)

// checkTraffic returns an error if less than the job's messages has passed while it
// ran: then what was measured took another way. A library that was asked for TCP or
// RDMA may silently know a better one. Half is proof enough: the programs round iterations to
// whole batches.
func (j job) checkTraffic(before, after traffic) error {
	switch {
	case j.medium == tcp && after.bytes > 0:
		if passed, least := after.bytes-before.bytes, j.leastBytes(); passed < least/2 {
			return fmt.Errorf("not measured over TCP: the network interfaces saw %d bytes, and %d are the least", passed, least)
		}
	case j.medium == rdma && after.packets > 0:
		if passed, least := after.packets-before.packets, j.leastPackets(); passed < least/2 {
			return fmt.Errorf("not measured over RDMA: the devices sent %d packets, and %d are the least", passed, least)
		}
	}
	return nil
}

// leastBytes is the bytes of the messages, with one segment for each, or for
// each window, and one for its answer.
func (j job) leastBytes() (bytes uint64) {
	for _, length := range j.lengths {
		exchange := 2 * (length + segmentHead)
		if j.window > 0 {
			exchange = j.window*length + 2*segmentHead
		}
		bytes += uint64(exchange) * uint64(j.iterations)
	}
	return bytes
}

// leastPackets is the packets of the messages, if each goes by itself and they are as large
// as packets get. Acknowledgements and answers are not counted.
func (j job) leastPackets() (packets uint64) {
	for _, length := range j.lengths {
		messages := 2
		if j.window > 0 {
			messages = j.window
		}
		each := max(1, (length+packetMax-1)/packetMax)
		packets += uint64(messages) * uint64(each) * uint64(j.iterations)
	}
	return packets
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
