package main_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"gomx/bench/pingpong"
	"gomx/mx"
)

// parrot is a receiver that says yes to all orders, and sends every message back
// as it came: -V wants other contents on the way back.
func parrot(ep *mx.Endpoint) error {
	const control, all = 0x0000222211110001, mx.MatchMaskNone
	var buf [512]byte
	recv := func(match uint64) (mx.Status, error) {
		r, err := ep.Irecv(buf[:], match, all, nil)
		if err != nil {
			return mx.Status{}, err
		}
		st, _, err := ep.Wait(r, mx.Infinite)
		return st, err
	}
	send := func(b []byte, to mx.EndpointAddr, match uint64) error {
		r, err := ep.Isend(b, to, match, nil)
		if err != nil {
			return err
		}
		_, _, err = ep.Wait(r, mx.Infinite)
		return err
	}
	yes := make([]byte, 9)
	st, err := recv(control - 1)
	for err == nil {
		if err = send(yes, st.Source, control); err != nil {
			break
		}
		if st, err = recv(control); err != nil {
			break
		}
		kind, count := buf[0], binary.BigEndian.Uint64(buf[9:])
		if kind != 2 {
			return send(yes, st.Source, control)
		}
		if err = send(yes, st.Source, control); err != nil {
			break
		}
		for range count {
			if st, err = recv(0x1000); err != nil {
				break
			}
			if err = send(buf[:st.XferLength], st.Source, 0); err != nil {
				break
			}
		}
	}
	return err
}

func TestCorruptMessagesEndWithStatus2(t *testing.T) {
	needShm(t)
	if err := mx.Init(); err != nil {
		t.Fatal(err)
	}
	defer mx.Finalize()
	ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, pingpong.DefaultFilter)
	if err != nil {
		t.Fatal(err)
	}
	defer ep.Close()
	flown := make(chan error, 1)
	go func() { flown <- parrot(ep) }()
	o := run(t, "-d", "localhost", "-r", fmt.Sprint(ep.ID()), "-V", "-S", "8", "-E", "9", "-N", "5", "-W", "0")
	if o.status != 2 || !strings.Contains(o.stderr, "corrupt message: byte 0 of 8") {
		t.Errorf("status %d, %q", o.status, o.stderr)
	}
	if err := <-flown; err != nil {
		t.Error(err)
	}
}
