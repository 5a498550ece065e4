package endpoint_test

import (
	"bytes"
	"testing"

	"gomx/endpoint"
	"gomx/match"
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
			h, err = e.Send(&endpoint.Outgoing{First: make([]byte, 100_000), To: e.Self(), Match: 1}, &endpoint.SendOptions{Level: endpoint.Matched})
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

// TestReserveOfOneself: where the bounds are too low for any message, as many small ones go to oneself as to another.
func TestReserveOfOneself(t *testing.T) {
	e := endpoint.New(endpoint.Config{NIC: 1, Session: 1, EagerLimit: -1, CopyLimit: -1, UnexpectedBytes: 1, UnexpectedHeaders: 1}, nobody{})
	ended := 0
	for range 100 {
		h, err := e.Send(&endpoint.Outgoing{First: make([]byte, 64), To: e.Self()}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if e.Done(h) {
			ended++
		}
	}
	if ended != 64 {
		t.Errorf("%d messages have left, want 64", ended)
	}
}

// TestSmallMessagesToOneselfCountAsHeaders where there is no room for bytes, as those of peers do.
func TestSmallMessagesToOneselfCountAsHeaders(t *testing.T) {
	e := endpoint.New(endpoint.Config{NIC: 1, Session: 1, EagerLimit: -1, CopyLimit: -1, UnexpectedBytes: 1, UnexpectedHeaders: 200}, nobody{})
	var sends []endpoint.Handle
	send := func(n int, match uint64) {
		t.Helper()
		h, err := e.Send(&endpoint.Outgoing{First: bytes.Repeat([]byte{byte(match)}, n), To: e.Self(), Match: match}, nil)
		if err != nil {
			t.Fatal(err)
		}
		sends = append(sends, h)
	}
	send(65, 0)
	for i := range uint64(300) {
		send(int(i%65), i+1)
	}
	ended := 0
	for _, h := range sends {
		if e.Done(h) {
			ended++
		}
	}
	if e.Done(sends[0]) || ended < 100 || ended > 200 {
		t.Errorf("the one of 65 bytes has ended: %v; %d of the others have", e.Done(sends[0]), ended)
	}
	var st endpoint.Status
	for i := range uint64(301) {
		b := make([]byte, 65)
		r, err := e.Recv(&endpoint.Posting{First: b, Value: i, Mask: match.MaskNone}, nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 65
		if i > 0 {
			n = int((i - 1) % 65)
		}
		if done, err := e.Test(r, &st); !done || err != nil || int(st.XferLength) != n || !bytes.Equal(b[:n], bytes.Repeat([]byte{byte(i)}, n)) {
			t.Fatalf("message %d: %v, %v, %+v", i, done, err, st)
		}
	}
	for i, h := range sends {
		if !e.Done(h) {
			t.Errorf("send %d has not ended", i)
		}
	}
	if d := e.Depths(); d.Unexpected != 0 || d.Bytes != 0 {
		t.Errorf("%+v is left", d)
	}
}
