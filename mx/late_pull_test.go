package mx_test

import (
	"bytes"
	"testing"
	"time"

	"gomx/mx"
)

// A send whose time is up gives its buffer back (XII.1.2). A receive that matches
// the message later must not get what lies in the buffer by then.
func TestXII12LateReceiveNeverGetsReusedBytes(t *testing.T) {
	for _, medium := range media {
		t.Run(medium, func(t *testing.T) {
			w := newWorld(t, medium)
			a, b, toB, _ := w.pair()
			if err := b.DisableProgression(); err != nil {
				t.Fatal(err)
			}
			buf := bytes.Repeat([]byte{1}, 1<<20)
			send, err := a.Isend(buf, toB, 1, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.SetRequestTimeout(send, 20*time.Millisecond); err != nil {
				t.Fatal(err)
			}
			if st, done, err := a.Wait(send, bound); !done || st.Code != mx.StatusTimeout {
				t.Fatalf("send ended with %v, %v, %v", st.Code, done, err)
			}
			for i := range buf {
				buf[i] = 2
			}
			in := make([]byte, len(buf))
			recv, err := b.Irecv(in, 1, mx.MatchMaskNone, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.ReenableProgression(); err != nil {
				t.Fatal(err)
			}
			st, done, err := b.Wait(recv, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			if done && st.Code == mx.StatusSuccess && in[0] != 1 {
				t.Error("the receive succeeded with bytes that were never sent")
			}
		})
	}
}
