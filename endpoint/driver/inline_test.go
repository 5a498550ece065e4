package driver_test

import (
	"errors"
	"testing"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/transport/mem"
)

const exactly = ^uint64(0)

// receive is one of exactly match.
func receive(b []byte, match uint64) *endpoint.Posting {
	return &endpoint.Posting{First: b, Value: match, Mask: exactly}
}

// receiver is an endpoint that offers its core after each poll, and a peer of it.
func receiver(t *testing.T, options ...option) (w *world, d, peer *driver.Endpoint, from, to endpoint.Addr) {
	w = newWorld(t, mem.Options{})
	t.Cleanup(w.close)
	d, peer = w.open(options...), w.open()
	from, to = w.connect(d, 1), w.connect(peer, 0)
	d.TakeTurns(2)
	return w, d, peer, from, to
}

func TestReceiveNowInTurns(t *testing.T) {
	w, d, peer, from, to := receiver(t, spinning(time.Second))
	for i := range uint64(2000) {
		sent := make(chan bool)
		go func() {
			ok := peer.SendNow([]byte{byte(i), 1}, to, i)
			if !ok { // its credit is used up, and nobody has read of more
				ok = peer.Progress() == nil && peer.SendNow([]byte{byte(i), 1}, to, i)
			}
			sent <- ok
		}()
		gone := i%2 == 0 && <-sent // it is there already, or among the unexpected
		var b [2]byte
		n, h, err := d.RecvNow(receive(b[:], i), from)
		if err != nil {
			t.Fatal(err)
		}
		if h != 0 {
			n = int(w.wait(d, h).XferLength)
		}
		if n != 2 || b[0] != byte(i) {
			t.Fatalf("message %d: %d bytes, %v", i, n, b)
		}
		if !gone && !<-sent {
			t.Fatalf("message %d was not sent", i)
		}
	}
}

// A pass ends with the message that it waits for. What lies behind it is no request's, stays on the link, and is the next call's, or the
// background's if there is none.
func TestReceiveNowLeavesWhatComesBehind(t *testing.T) {
	w, d, peer, from, to := receiver(t, spinning(time.Second))
	var b [1]byte
	for i := range uint64(3) {
		if !peer.SendNow([]byte{byte(i)}, to, i) {
			t.Fatalf("message %d was not sent", i)
		}
	}
	for i := range uint64(2) {
		n, h, err := d.RecvNow(receive(b[:], i), from)
		if h != 0 {
			n = int(w.wait(d, h).XferLength)
		}
		if n != 1 || b[0] != byte(i) || err != nil {
			t.Fatalf("message %d: %d bytes, %v, %v", i, n, b, err)
		}
	}
	for deadline := time.Now().Add(patience); d.Report().Depths.Unexpected == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nobody takes the last message")
		}
	}
}

// What does not come in time is a request, and so is what must wait behind a wake-up.
func TestReceiveNowInTurnsIsPosted(t *testing.T) {
	w, d, peer, from, to := receiver(t, spinning(time.Millisecond))
	var b [8]byte
	n, h, err := d.RecvNow(receive(b[:], 1), from)
	if err != nil || h == 0 {
		t.Fatalf("nothing was sent: %d bytes, %v", n, err)
	}
	if !peer.SendNow(b[:5], to, 1) {
		t.Fatal("not sent")
	}
	if st := w.wait(d, h); st.XferLength != 5 {
		t.Errorf("%+v", st)
	}
}

// Closing ends the wait of a receive that is no request yet.
func TestCloseWhileReceivingInTurns(t *testing.T) {
	_, d, _, from, _ := receiver(t, spinning(time.Hour))
	closed := make(chan error)
	time.AfterFunc(20*time.Millisecond, func() { closed <- d.Close() })
	var b [8]byte
	if _, h, err := d.RecvNow(receive(b[:], 1), from); h == 0 && !errors.Is(err, driver.ErrClosed) {
		t.Errorf("request %v, %v", h, err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// A second caller that waits for something else is not kept waiting by the first.
func TestReceiveNowInTurnsBesideAnother(t *testing.T) {
	w, d, peer, from, to := receiver(t, spinning(time.Hour))
	got := make(chan endpoint.Status)
	other, err := d.Recv(receive(make([]byte, 8), 2), &endpoint.RecvOptions{Tied: true, From: from})
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(5*time.Millisecond, func() {
		go func() { got <- w.wait(d, other) }()
		time.Sleep(5 * time.Millisecond)
		if !peer.SendNow([]byte("beside"), to, 2) || !peer.SendNow([]byte("this"), to, 1) {
			t.Error("not sent")
		}
	})
	var b [8]byte
	n, h, err := d.RecvNow(receive(b[:], 1), from)
	if err != nil {
		t.Fatal(err)
	}
	if h != 0 {
		n = int(w.wait(d, h).XferLength)
	}
	if n != 4 {
		t.Errorf("%d bytes", n)
	}
	if st := <-got; st.XferLength != 6 {
		t.Errorf("beside it: %+v", st)
	}
}
