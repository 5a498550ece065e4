package endpoint_test

import (
	"testing"

	"gomx/endpoint"
	"gomx/endpoint/endpointtest"
	"gomx/match"
	"gomx/transport/wire"
)

// TestBytesAreThereBeforeTheSenderIsTold: when the notice that a message has matched leaves, all of the message is where the
// receive wants it.
func TestBytesAreThereBeforeTheSenderIsTold(t *testing.T) {
	const text = "exactly these bytes"
	memory := make([]byte, len(text))
	for name, v := range map[string]wire.Vec{
		"receive":  {First: memory},
		"segments": {First: memory[:4], Rest: [][]byte{memory[4:9], memory[9:]}},
	} {
		for _, early := range []bool{false, true} {
			clear(memory)
			h := newHouse(endpointtest.Reliable(false), endpoint.Config{})
			l := h.dialled(2)
			session, ok := h.connect(l, 2, 100)
			if !ok {
				t.Fatal("not connected")
			}
			notices := 0
			l.hear = func(f *wire.Header) {
				if f.Kind == wire.Notify {
					if notices++; string(memory) != text {
						t.Errorf("%s, message first %v: at the notice there is %q", name, early, memory)
					}
				}
			}
			message := eager(session.Session, 100)
			message.Flags, message.ID = wire.HasID|wire.Sync, 9
			steps := []func(){
				func() { h.frame(l, message, []byte(text)) },
				func() {
					if _, err := h.Recv(&endpoint.Posting{First: v.First, Value: 5, Mask: match.MaskNone}, &endpoint.RecvOptions{Rest: v.Rest}); err != nil {
						t.Fatal(err)
					}
				},
			}
			if !early {
				steps[0], steps[1] = steps[1], steps[0]
			}
			steps[0]()
			steps[1]()
			if notices != 1 {
				t.Errorf("%s, message first %v: %d notices", name, early, notices)
			}
		}
	}
}
