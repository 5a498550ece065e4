package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// segmentHead is the least that a TCP segment carries beside its payload: the
// headers of IP and TCP.
const segmentHead = 40

// checkTraffic returns an error if fewer bytes than the job's messages have
// passed the network interfaces while it ran: then what was measured took another
// way. A library that was asked for TCP may silently know a better one.
func (j job) checkTraffic(passed uint64) error {
	if j.medium != tcp || networkBytes() == 0 {
		return nil
	}
	// Half is proof enough: the programs round iterations to whole batches.
	if least := j.leastTraffic(); passed < least/2 {
		return fmt.Errorf("not measured over TCP: the network interfaces saw %d bytes, and %d are the least", passed, least)
	}
	return nil
}

// leastTraffic is the bytes of the messages, with one segment for each, or for
// each window, and one for its answer.
func (j job) leastTraffic() (bytes uint64) {
	for _, length := range j.lengths {
		exchange := 2 * (length + segmentHead)
		if j.window > 0 {
			exchange = j.window*length + 2*segmentHead
		}
		bytes += uint64(exchange) * uint64(j.iterations)
	}
	return bytes
}

// networkBytes is how many bytes all interfaces have received, loopback
// included; 0 where the system doesn't say.
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
