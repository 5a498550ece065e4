package mx_test

import (
	"errors"
	"fmt"
	"testing"

	"gomx/mx"
)

// wordKeys are the keys with a *uint32 behind them; the board ones want a board.
var wordKeys = []mx.InfoKey{
	mx.NICCount, mx.MaxNativeEndpoints, mx.NativeRequests, mx.CountersCount, mx.SerialNumber,
	mx.PortCount, mx.PIOSendMax, mx.CopySendMax, mx.NUMANode, mx.NetType,
	mx.MaxEndpointsKey, mx.MaxSegmentsKey,
}

var textKeys = []mx.InfoKey{mx.ProductCode, mx.PartNumber, mx.LineSpeed}

var boardKeys = []mx.InfoKey{
	mx.CountersCount, mx.CountersLabels, mx.CountersValues, mx.ProductCode, mx.PartNumber,
	mx.SerialNumber, mx.PortCount, mx.NUMANode, mx.LineSpeed,
}

func TestIII21EveryKeyAnswers(t *testing.T) {
	initialize(t)
	for _, key := range wordKeys {
		v := uint32(0xdddddddd)
		if err := mx.GetInfo(nil, key, 0, &v); err != nil || v == 0xdddddddd {
			t.Errorf("key %d: %d, %v", key, v, err)
		}
	}
	for _, key := range textKeys {
		v := "unset"
		if err := mx.GetInfo(nil, key, 0, &v); err != nil || v == "unset" || len(v) >= mx.MaxStrLen {
			t.Errorf("key %d: %q, %v", key, v, err)
		}
	}
}

func TestIII21LimitsAreTheLibrarys(t *testing.T) {
	initialize(t)
	var n uint32
	for key, want := range map[mx.InfoKey]uint32{
		mx.MaxNativeEndpoints: mx.MaxEndpoints, mx.NativeRequests: 0xffffffff, mx.PortCount: 1, mx.NetType: 1,
		mx.MaxEndpointsKey: mx.MaxEndpoints, mx.MaxSegmentsKey: mx.MaxSegments,
	} {
		if err := mx.GetInfo(nil, key, 0, &n); err != nil || n != want {
			t.Errorf("key %d: %d, %v, want %d", key, n, err, want)
		}
	}
}

// TestIII31EveryIDBelowTheKeysValueIsOne: ports may leave fewer ids than there are otherwise.
func TestIII31EveryIDBelowTheKeysValueIsOne(t *testing.T) {
	t.Setenv("MX_PORT_RANGE", "20000-20009")
	initialize(t)
	var n uint32
	if err := mx.GetInfo(nil, mx.MaxEndpointsKey, 0, &n); err != nil || n != 10 {
		t.Errorf("%d, %v", n, err)
	}
}

// TestIII21BoardsAreToldApart: interfaces have neither part nor serial numbers. What stands for them differs from board
// to board, and is the same each time.
func TestIII21BoardsAreToldApart(t *testing.T) {
	initialize(t)
	boards, err := mx.Boards()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for i, b := range boards {
		var part string
		var serial uint32
		if err := errors.Join(mx.GetInfo(nil, mx.PartNumber, uint32(i), &part), mx.GetInfo(nil, mx.SerialNumber, uint32(i), &serial)); err != nil {
			t.Fatal(err)
		}
		if part != b.Interface || serial != uint32(b.ID) {
			t.Errorf("board %d: part %q, serial %#x, of %+v", i, part, serial, b)
		}
		for _, number := range []string{part, fmt.Sprint(serial)} {
			if other, taken := seen[number]; taken {
				t.Errorf("boards %d and %d both have %s", other, i, number)
			}
			seen[number] = i
		}
	}
}

func TestIII21UnknownKey(t *testing.T) {
	initialize(t)
	for _, key := range []mx.InfoKey{0, 19, 1000, 0xffffffff} {
		refused(t, mx.GetInfo(nil, key, 0, new(uint32)), mx.ErrBadInfoKey, "get info", fmt.Sprint(uint32(key)))
	}
}

func TestIII21WrongTypeLeavesOutAlone(t *testing.T) {
	initialize(t)
	for _, key := range wordKeys {
		s := "kept"
		refused(t, mx.GetInfo(nil, key, 0, &s), mx.ErrBadInfoVal, "get info")
		refused(t, mx.GetInfo(nil, key, 0, (*uint32)(nil)), mx.ErrBadInfoVal)
		refused(t, mx.GetInfo(nil, key, 0, nil), mx.ErrBadInfoVal)
		if s != "kept" {
			t.Errorf("key %d wrote %q", key, s)
		}
	}
	for _, key := range textKeys {
		refused(t, mx.GetInfo(nil, key, 0, new(uint32)), mx.ErrBadInfoVal)
		refused(t, mx.GetInfo(nil, key, 0, (*string)(nil)), mx.ErrBadInfoVal)
	}
	refused(t, mx.GetInfo(nil, mx.NICIDs, 0, []uint32{1}), mx.ErrBadInfoVal)
	refused(t, mx.GetInfo(nil, mx.CountersLabels, 0, make([]uint32, 100)), mx.ErrBadInfoVal)
	refused(t, mx.GetInfo(nil, mx.CountersValues, 0, make([]string, 100)), mx.ErrBadInfoVal)
}

func TestIII21UnknownBoard(t *testing.T) {
	initialize(t)
	for _, key := range boardKeys {
		for _, board := range []uint32{32, 300, 1 << 31, mx.AnyNIC} {
			refused(t, mx.GetInfo(nil, key, board, new(uint32)), mx.ErrBoardUnknown, "get info", fmt.Sprint(board))
		}
	}
	if _, err := mx.BoardCounters(300); !errors.Is(err, mx.ErrBoardUnknown) {
		t.Error(err)
	}
}

func TestIII22NICIDsEndWithZero(t *testing.T) {
	initialize(t)
	var n uint32
	if err := mx.GetInfo(nil, mx.NICCount, 0, &n); err != nil || n == 0 {
		t.Fatalf("%d boards, %v", n, err)
	}
	short := make([]uint64, n)
	refused(t, mx.GetInfo(nil, mx.NICIDs, 0, short), mx.ErrBadInfoLength, "get info")
	ids := make([]uint64, n+1)
	ids[n] = 7
	if err := mx.GetInfo(nil, mx.NICIDs, 0, ids); err != nil {
		t.Fatal(err)
	}
	if ids[n] != 0 {
		t.Error("the list does not end with 0")
	}
	for board := range n {
		if want, err := mx.BoardNumberToNICID(board); err != nil || ids[board] != want || want == 0 {
			t.Errorf("board %d: %#x, want %#x, %v", board, ids[board], want, err)
		}
	}
}

func TestIII23CountersHaveLabelsAndValues(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		recv := w.irecv(b, make([]byte, 5), 1, exact)
		w.succeed(a, w.isend(a, pattern(5, 0), toB, 1))
		w.succeed(b, recv)
		for _, ep := range []*mx.Endpoint{nil, a} {
			var n uint32
			if err := mx.GetInfo(ep, mx.CountersCount, 0, &n); err != nil {
				w.Fatal(err)
			}
			labels, values, wide := make([]string, n), make([]uint32, n), make([]uint64, n)
			for key, out := range map[mx.InfoKey]any{mx.CountersLabels: labels, mx.CountersValues: values} {
				if err := mx.GetInfo(ep, key, 0, out); err != nil {
					w.Fatal(err)
				}
			}
			if err := mx.GetInfo(ep, mx.CountersValues, 0, wide); err != nil {
				w.Fatal(err)
			}
			sent := -1
			for i, label := range labels {
				if label == "" || len(label) >= mx.MaxStrLen {
					w.Errorf("label %q", label)
				}
				if label == "messages sent" {
					sent = i
				}
			}
			if sent < 0 || values[sent] == 0 || uint64(values[sent]) != wide[sent] {
				w.Errorf("endpoint %v: nothing sent is counted", ep)
			}
			refused(w, mx.GetInfo(ep, mx.CountersLabels, 0, labels[:n-1]), mx.ErrBadInfoLength)
			refused(w, mx.GetInfo(ep, mx.CountersValues, 0, values[:n-1]), mx.ErrBadInfoLength)
			refused(w, mx.GetInfo(ep, mx.CountersValues, 0, wide[:n-1]), mx.ErrBadInfoLength)
		}
	})
}

func TestIII23CountersRise(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		check := func(ep *mx.Endpoint, label string, want uint64) {
			w.Helper()
			if got := counter(w, ep, label); got != want {
				w.Errorf("%v: %s is %d, want %d", ep, label, got, want)
			}
		}
		w.sendUnexpected(a, b, pattern(10, 0), toB, 1)
		check(b, "unexpected messages", 1)
		if n := counter(w, b, "unexpected bytes"); n < 10 {
			w.Errorf("%d unexpected bytes for a message of 10", n)
		}
		w.succeed(b, w.irecv(b, make([]byte, 10), 1, exact))
		check(b, "unexpected messages", 0)
		check(b, "unexpected bytes", 0)
		check(b, "unexpected messages, peak", 1)
		check(a, "sent eager", 1)
		check(a, "sent over "+w.medium, 1)
		check(b, "received over "+w.medium, 1)

		recv := w.irecv(b, make([]byte, 200_000), 2, exact)
		check(b, "posted receives", 1)
		send := w.isend(a, pattern(200_000, 0), toB, 2)
		w.succeed(b, recv)
		w.succeed(a, send)
		check(a, "sent rendezvous", 1)
		check(b, "received rendezvous", 1)
		check(a, "bytes sent", 200_010)
		check(b, "bytes received", 200_010)
		check(b, "posted receives", 0)
		check(b, "posted receives, peak", 1)

		self := w.irecv(a, make([]byte, 3), 3, exact)
		w.succeed(a, w.isend(a, pattern(3, 0), a.Addr(), 3))
		w.succeed(a, self)
		check(a, "sent over self", 1)
		check(a, "received over self", 1)
		check(a, "messages sent", 3)
	})
}

func TestIII23CountersOfClosedEndpointsStayWithTheBoard(t *testing.T) {
	over(t, func(w *world) {
		total := func() (sent uint64) {
			list, err := mx.BoardCounters(0)
			if err != nil {
				w.Fatal(err)
			}
			return list[0].Value
		}
		a, b, toB, _ := w.pair()
		recv := w.irecv(b, make([]byte, 1), 1, exact)
		w.succeed(a, w.isend(a, pattern(1, 0), toB, 1))
		w.succeed(b, recv)
		before := total()
		shut(w, a)
		if after := total(); before != 1 || after != before {
			w.Errorf("%d messages before the endpoint closed, %d after", before, after)
		}
	})
}
