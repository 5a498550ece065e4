package endpoint_test

import (
	"fmt"
	"testing"

	"gomx/endpoint"
	"gomx/internal/testlength"
)

// TestWhoIsReceivedFromGoesOn: a sender to whom the least credit is granted sends all it has while the other side
// receives one message after the other, whenever that sets a handler, which small messages have to come to whole.
func TestWhoIsReceivedFromGoesOn(t *testing.T) {
	testlength.Alone(t)
	const messages = 300
	least := endpoint.Config{EagerLimit: -1, CopyLimit: -1, Session: 1, UnexpectedBytes: 1, UnexpectedHeaders: 1}
	for name, caps := range media() {
		for _, size := range []int{0, 65, 500, endpoint.AlwaysEager - 1, endpoint.AlwaysEager} {
			for _, when := range []string{"no handler", "a handler from the first message on", "a handler after a flood"} {
				t.Run(fmt.Sprintf("%s/%d bytes/%s", name, size, when), func(t *testing.T) {
					f := flood(t, caps, least, 1, 0, size)
					if when == "a handler from the first message on" {
						f.b.Engine.SetHandler(true)
					}
					for i := range messages {
						f.sends[0] = append(f.sends[0], f.send(t, f.senders[0], f.b, size, uint64(i), endpoint.BufferFree))
					}
					f.settle()
					if when == "a handler after a flood" {
						f.b.Engine.SetHandler(true)
					}
					for i := range messages {
						r := f.recv(t, f.b, size, uint64(i), exactly)
						f.settle()
						done(t, fmt.Sprint("receive ", i), f.b, r)
						if t.Failed() {
							return
						}
					}
					for i, s := range f.sends[0] {
						done(t, fmt.Sprint("send ", i), f.senders[0], s)
					}
				})
			}
		}
	}
}
