package endpoint_test

import (
	"testing"

	"gomx/endpoint"
	"gomx/transport/wire"
)

// shower is a host whose unexpected handler does something.
type shower struct {
	nobody
	show func(*endpoint.Incoming) endpoint.Action
}

func (s *shower) Unexpected(in *endpoint.Incoming) endpoint.Action { return s.show(in) }

// A send to oneself does not end while the handler reads its memory: not when the handler, or somebody beside it,
// disconnects, and not when its time passes. It ends when the handler has returned.
func TestSendIsPendingWhileTheHandlerReads(t *testing.T) {
	for name, c := range map[string]struct {
		during func(e *endpoint.Engine)
		code   endpoint.Code
	}{
		"disconnect": {func(e *endpoint.Engine) { _ = e.Disconnect(e.Self()) }, endpoint.EndpointUnreachable},
		"timeout":    {func(e *endpoint.Engine) { e.Advance(20) }, endpoint.TimedOut},
	} {
		t.Run(name, func(t *testing.T) {
			s := &shower{}
			e := endpoint.New(endpoint.Config{NIC: 1, Session: 1, EagerLimit: -1, CopyLimit: -1}, s)
			shown := 0
			var h endpoint.Handle
			s.show = func(*endpoint.Incoming) endpoint.Action {
				shown++
				c.during(e)
				if e.Done(h) {
					t.Error("the send ended while the handler read its memory")
				}
				return endpoint.Continue
			}
			e.SetHandler(true)
			var err error
			h, err = e.Send(&endpoint.Outgoing{Data: wire.Vec{First: make([]byte, 100_000)}, To: e.Self(), Match: 1, Level: endpoint.Matched})
			if err != nil {
				t.Fatal(err)
			}
			if err := e.SetTimeout(h, 10); err != nil {
				t.Fatal(err)
			}
			e.Flush()
			e.Advance(40)
			var st endpoint.Status
			if ok, err := e.Test(h, &st); !ok || err != nil || st.Code != c.code || shown != 1 {
				t.Errorf("done %v, %v, %v; shown %d times", ok, err, st.Code, shown)
			}
		})
	}
}
