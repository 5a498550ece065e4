//go:build linux && cgo

package rdma_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"gomx/transport"
	"gomx/transport/rdma"
	"gomx/transport/tcp"
	"gomx/transport/wire"
)

// TestCloseWhileFramesAreHeld closes a link while a frame of it, that had come before
// Bind, is handed over, which takes back the slots of all that waited. Then it looks
// whether each slot still takes but one message at a time.
func TestCloseWhileFramesAreHeld(t *testing.T) {
	const credits = 12
	medium := onDevice(t, rdma.Options{Credits: credits, Slots: rdma.LeastSlots}, tcp.Options{})
	near, far := open(t, medium, 0), open(t, medium, 1)
	near.meet(far)
	near.link.Bind(1)
	pollBoth := func() { near.port.Poll(near); far.port.Poll(far) }
	var got []uint64
	take := func(_ *wire.Header, payload []byte) bool {
		got = append(got, binary.LittleEndian.Uint64(payload))
		return true
	}
	next := uint64(0)
	send := func(n int) (sent []uint64) {
		for len(sent) < n {
			payload := binary.LittleEndian.AppendUint64(nil, next)
			if near.link.Send(&wire.Header{Kind: wire.Eager, Length: 8}, &wire.Vec{First: payload}, 0) {
				sent = append(sent, next)
				next++
			} else {
				pollBoth()
			}
		}
		return sent
	}
	settle := func() {
		for range 200 {
			pollBoth()
		}
	}

	send(credits / 2)
	settle()
	closing := far.link
	far.take = func(*wire.Header, []byte) bool { closing.Close(); return true }
	far.link.Bind(0)
	await(t, "the end of the link", func() bool { pollBoth(); return len(near.reasons()) > 0 })
	near.link.Close()
	far.take = take
	rejoin(near, far)

	for round := range 20 { // as many messages as make all slots go round a few times
		got = nil
		sent := send(credits)
		await(t, "all of them", func() bool { pollBoth(); return len(got) == len(sent) })
		if !slices.Equal(got, sent) {
			t.Fatalf("round %d: sent %v, got %v", round, sent, got)
		}
	}
	if n := far.counts[transport.CorruptFrames]; n != 0 {
		t.Errorf("%d corrupt frames", n)
	}
}

// rejoin makes another link between two ends that have closed theirs.
func rejoin(near, far *end) {
	far.mu.Lock()
	far.accepted = nil
	far.mu.Unlock()
	near.join(far)
}
