package endpoint_test

import (
	"errors"
	"testing"

	"gomx/endpoint"
	"gomx/endpoint/endpointtest"
	"gomx/match"
	"gomx/transport/wire"
)

// The longest message there is has 4 GiB - 1 bytes. Its segments may lie on top
// of each other, so it needs little memory.
func TestLongestMessage(t *testing.T) {
	w, a, b, to := pairOf(t, endpointtest.Reliable(true))
	segment := make([]byte, 1<<24)
	v := wire.Vec{First: segment[1:]}
	for range 255 {
		v.Rest = append(v.Rest, segment)
	}
	send, err := a.Engine.Send(&endpoint.Outgoing{First: v.First, To: to, Match: 1}, &endpoint.SendOptions{Rest: v.Rest, Level: endpoint.Matched})
	if err != nil {
		t.Fatal(err)
	}
	v.First = segment
	if _, err := a.Engine.Send(&endpoint.Outgoing{First: v.First, To: to, Match: 1}, &endpoint.SendOptions{Rest: v.Rest, Level: endpoint.Matched}); !errors.Is(err, endpoint.ErrBadSegMem) {
		t.Errorf("4 GiB: %v, want ErrBadSegMem", err)
	}
	v.First, v.Rest = segment[:1], append(v.Rest, segment)
	v.Rest[0] = nil
	v.Rest[1] = nil
	if _, err := a.Engine.Send(&endpoint.Outgoing{First: v.First, To: to, Match: 1}, &endpoint.SendOptions{Rest: v.Rest, Level: endpoint.Matched}); !errors.Is(err, endpoint.ErrBadSegCount) {
		t.Errorf("257 segments: %v, want ErrBadSegCount", err)
	}
	w.Run()
	recv, _ := b.Engine.Recv(&endpoint.Posting{First: make([]byte, 100), Value: 1, Mask: match.MaskNone}, nil)
	w.Run()
	var sent, got endpoint.Status
	a.Engine.Test(send, &sent)
	b.Engine.Test(recv, &got)
	if got.Code != endpoint.Truncated || got.MsgLength != 1<<32-1 || got.XferLength != 100 {
		t.Errorf("received %+v", got)
	}
	if sent.Code != endpoint.Truncated || sent.XferLength != 100 {
		t.Errorf("sent %+v", sent)
	}
}

// The list of segments may change as soon as the call returns (V.1.1); the
// bytes may not.
func TestSegmentListsAreCopied(t *testing.T) {
	w, a, b, to := pairOf(t, endpointtest.Reliable(false))
	src := endpointtest.NewBuffer(3000, 3000)
	endpointtest.Fill(&src.Vec, 9)
	dst := endpointtest.NewBuffer(100, 5900)
	out, in := src.Vec, dst.Vec
	out.Rest, in.Rest = append([][]byte(nil), out.Rest...), append([][]byte(nil), in.Rest...)
	a.Engine.Send(&endpoint.Outgoing{First: out.First, To: to, Match: 1}, &endpoint.SendOptions{Rest: out.Rest})
	b.Engine.Recv(&endpoint.Posting{First: in.First, Value: 1, Mask: match.MaskNone}, &endpoint.RecvOptions{Rest: in.Rest})
	out.Rest[0], in.Rest[0] = nil, nil
	w.Run()
	if err := dst.Check(9, 6000); err != nil {
		t.Error(err)
	}
}

// A probe's status has no context and tells the length (VII.1.1).
func TestProbeStatus(t *testing.T) {
	w, a, b, to := pairOf(t, endpointtest.Reliable(false))
	a.Engine.Send(&endpoint.Outgoing{First: make([]byte, 12), To: to, Match: 0x55, Context: "context"}, nil)
	w.Run()
	st := endpoint.Status{Context: "stale", XferLength: 99}
	found, err := b.Engine.Probe(0, 0, &st)
	if !found || err != nil || st.Context != nil || st.MsgLength != 12 || st.XferLength != 12 || st.Match != 0x55 {
		t.Errorf("probe: %v %v %+v", found, err, st)
	}
	if nic, id, ok := b.Engine.Locate(st.Source); nic != a.NIC || id != 0 || !ok {
		t.Errorf("source %x/%d %v", nic, id, ok)
	}
}

func TestForeignHandlesAndAddresses(t *testing.T) {
	_, a, b, to := pairOf(t, endpointtest.Reliable(false))
	h, _ := b.Engine.Recv(&endpoint.Posting{Value: 1, Mask: match.MaskNone}, nil)
	var st endpoint.Status
	for _, bad := range []endpoint.Handle{0, h + 1000, h << 40, ^endpoint.Handle(0)} {
		if _, err := a.Engine.Test(bad, &st); !errors.Is(err, endpoint.ErrBadRequest) {
			t.Errorf("handle %#x: %v", bad, err)
		}
	}
	for _, bad := range []endpoint.Addr{{}, {Peer: 1}, {Peer: 99, Session: 1}, {Peer: -1, Session: 1}} {
		if _, err := a.Engine.Send(&endpoint.Outgoing{To: bad, Match: 1}, nil); !errors.Is(err, endpoint.ErrBadAddress) {
			t.Errorf("address %v: %v", bad, err)
		}
		if err := a.Engine.Disconnect(bad); !errors.Is(err, endpoint.ErrBadAddress) {
			t.Errorf("disconnect %v: %v", bad, err)
		}
	}
	if to.Session == 0 {
		t.Error("a connect gave no session")
	}
}

func TestEveryCodeHasAText(t *testing.T) {
	for c := endpoint.Code(0); c < 20; c++ {
		if c.String() == "" {
			t.Errorf("code %d has no text", c)
		}
	}
	for _, e := range []endpoint.Errno{
		endpoint.ErrBadRequest, endpoint.ErrBadSegCount, endpoint.ErrBadSegMem, endpoint.ErrBadMask,
		endpoint.ErrBadAddress, endpoint.ErrCancelSend, endpoint.ErrBadContextMask, endpoint.ErrNoResources, 200,
	} {
		if e.Error() == "" {
			t.Errorf("error %d has no text", e)
		}
	}
}
