package mx_test

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"gomx/mx"
)

// logger returns a logger and what it writes.
func logger() (mx.Param, *lines) {
	log := &lines{}
	return mx.WithLogger(slog.New(slog.NewTextHandler(log, nil))), log
}

// line waits until the log has a line with all the parts, while the endpoints make progress.
func (w *world) line(log *lines, parts []string, eps ...*mx.Endpoint) {
	w.Helper()
	hasAll := func(line string) bool {
		return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) })
	}
	w.until("a line with "+strings.Join(parts, " and ")+" in the log", func() bool {
		return slices.ContainsFunc(strings.Split(log.String(), "\n"), hasAll)
	}, eps...)
}

func TestLogOfRejectedConnect(t *testing.T) {
	over(t, func(w *world) {
		param, log := logger()
		a, b := w.open(), w.open(param)
		if err := b.Admit(func(*mx.ConnectionRequest) (bool, []byte) { return false, nil }); err != nil {
			w.Fatal(err)
		}
		if c := w.ends(w.call(noContext, a, b, "")); c.err == nil {
			w.Error("the connect is not rejected")
		}
		w.line(log, []string{"level=INFO", `msg="connect rejected" endpoint=` + b.String() + " peer=" + a.String() + " ", `how="refused by the program at the peer"`})
	})
}

func TestLogOfBackPressure(t *testing.T) {
	over(t, func(w *world) {
		param, log := logger()
		a, b := w.open(param), w.open(mx.WithUnexpQueueMax(32<<10), mx.WithUnexpHeaders(300))
		toB := w.connect(a, b)
		var sends []mx.Request
		for range 3000 {
			sends = append(sends, w.isend(a, pattern(500, 0), toB, 1))
		}
		w.line(log, []string{"level=INFO", `msg="back-pressure: sends wait for credit" endpoint=` + a.String() + " peer=" + b.String() + " "}, a, b)
		buf := make([]byte, 500)
		for range sends {
			w.succeed(b, w.irecv(b, buf, 1, exact))
		}
		for _, r := range sends {
			w.succeed(a, r)
		}
	})
}

func TestLogOfPeerThatIsNotReached(t *testing.T) {
	over(t, func(w *world) {
		param, log := logger()
		a, b := w.open(param), w.open()
		nic, id := place(w, b)
		name := b.String()
		if err := b.Close(); err != nil {
			w.Fatal(err)
		}
		if _, err := a.Connect(nic, id, testFilter, bound); err == nil {
			w.Error("the connect succeeds")
		}
		w.line(log, []string{"level=WARN", `msg="peer not reached" endpoint=` + a.String() + " peer=" + name + " ", "cause="}, a)
	})
}

// TestLogOfRefusedHandshake has somebody knock at the endpoint's port who does not speak the handshake.
func TestLogOfRefusedHandshake(t *testing.T) {
	w := newWorld(t, "tcp")
	param, log := logger()
	ep := w.open(param)
	_, id := place(w, ep)
	boards, err := mx.Boards()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), bound)
	defer cancel()
	var d net.Dialer
	stranger, err := d.DialContext(ctx, "tcp", netip.AddrPortFrom(boards[0].Addrs[0], uint16(portOfID(t, id))).String())
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	_ = stranger.SetDeadline(time.Now().Add(bound))
	if _, err := stranger.Write([]byte(strings.Repeat("GET / HTTP/1.1\r\n", 100))); err != nil {
		t.Fatal(err)
	}
	w.line(log, []string{"level=WARN", `msg="handshake refused" endpoint=` + ep.String(), "refused " + stranger.LocalAddr().String()}, ep)
}
