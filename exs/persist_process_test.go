package exs_test

import (
	"bytes"
	"os"
	"runtime"
	"testing"

	"gomx/exs"
)

// exported lets the other process write into memory, from which what it sent is to be seen.
// The other one echoes packets, which now come back into that memory.
func exported(w *world, s *exs.Socket) (*exs.Queue, []byte) {
	w.Helper()
	q, field := w.queue(w.there), make([]byte, 400_000)
	_, err := s.Recv(field, exs.Persistent|exs.Notify, q, nil, nil)
	w.ok(err)
	return q, field
}

func TestPersistentTwoProcesses(t *testing.T) {
	w := newWorld(t, "one library")
	cmd, s := other(w, exs.SeqPacket)
	q, field := exported(w, s)
	for i, n := range []int{1, 100, 10_000, 300_000} {
		out := pattern(n, byte(i))
		_, err := s.Write(out)
		w.ok(err)
		if e := w.event(q, exs.EvtWritten, 0); e.Length != n || !bytes.Equal(field[:n], out) {
			t.Fatalf("%d bytes, not the %d that were sent", e.Length, n)
		}
	}
	w.ok(s.BlockingClose())
	w.event(q, exs.EvtRecv, 0)
	w.within("the end of the peer", func() { w.Log(cmd.Process.Wait()) })
}

// The other process is killed while each kind of operation waits.
func TestPersistentPeerIsKilled(t *testing.T) {
	w := newWorld(t, "one library")
	cmd, s := other(w, exs.SeqPacket)
	q, field := exported(w, s)
	_, err := s.Send(field, exs.Persistent, q, nil, nil)
	w.ok(err)
	sends := w.queue(w.there)
	_, err = s.SendOffset(field[:10], 0, 0, sends, nil, nil)
	w.ok(err)
	receives := w.queue(w.there)
	_, err = s.RecvOffset(make([]byte, 10), 0, 0, receives, nil, nil)
	w.ok(err)
	w.ok(cmd.Process.Signal(os.Kill))
	w.event(sends, exs.EvtSend, exs.ECONNRESET)
	w.event(receives, exs.EvtRecv, exs.ECONNRESET)
	for range 2 {
		var e [1]exs.Event
		if n, err := q.Dequeue(e[:], bound); n != 1 || err != nil || e[0].Errno != exs.ECONNRESET {
			t.Errorf("%d events, %v, %v", n, err, e[0].Errno)
		}
	}
	for err = nil; err == nil; runtime.Gosched() {
		_, err = s.PollPersistent()
	}
	refused(t, err, exs.ECONNRESET)
	ep, err := w.there.Endpoint()
	w.ok(err)
	for _, c := range ep.Counters() {
		if c.Label == "windows" && c.Value != 0 {
			t.Errorf("%d windows are left", c.Value)
		}
	}
	w.ok(s.BlockingClose())
}
