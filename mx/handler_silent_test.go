package mx_test

import (
	"testing"
	"time"

	"gomx/mx"
)

// An error handler that returns nothing ends the call all the same: it has no effect, and returns zero values.
func TestErrorHandlerThatReturnsNothing(t *testing.T) {
	over(t, func(w *world) {
		heard := 0
		a := w.open(mx.WithErrorHandler(func(*mx.Error) error { heard++; return nil }))
		b := w.open()
		nic, id := place(w, b)
		peer, much := mx.PeerName{NIC: nic, Endpoint: id, Filter: testFilter}, make([]byte, mx.MaxConnectData+1)
		l, err := a.Listen()
		if err != nil {
			t.Fatal(err)
		}
		calls := map[string]func() bool{
			"WaitFirst": func() bool { _, done, err := a.WaitFirst(noContext, nil, mx.Infinite); return !done && err == nil },
			"WaitAll": func() bool {
				done, err := a.WaitAll(noContext, []mx.Request{w.irecv(b, nil, 1, exact)}, nil, mx.Infinite)
				return !done && err == nil
			},
			"ConnectWith": func() bool {
				addr, answer, err := a.ConnectWith(noContext, peer, much)
				return addr.IsZero() && answer == nil && err == nil
			},
			"IconnectWith": func() bool { r, err := a.IconnectWith(peer, much, nil, 0, nil); return r.IsZero() && err == nil },
			"Admit": func() bool {
				return a.Admit(func(*mx.ConnectionRequest) (bool, []byte) { return true, nil }) == nil
			},
			"Listen": func() bool { other, err := a.Listen(); return other == nil && err == nil },
		}
		for name, call := range calls {
			before, ended := heard, make(chan bool, 1)
			go func() { ended <- call() }()
			select {
			case ok := <-ended:
				if !ok || heard != before+1 {
					w.Errorf("%s: zero values %v, heard %d times", name, ok, heard-before)
				}
			case <-time.After(bound):
				w.Fatalf("%s goes on", name)
			}
		}
		if p := a.Pending(); len(p) != 0 {
			w.Errorf("pending: %v", p)
		}
		nic, id = place(w, a)
		call, err := b.Iconnect(nic, id, testFilter, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := l.Wait(noContext, bound)
		if err != nil || r == nil {
			w.Fatal("nobody connects:", err)
		}
		from, accepted := r.Accept(much)
		if rejected := r.Reject(much); !from.IsZero() || accepted != nil || rejected != nil {
			w.Error(from, accepted, rejected)
		}
		if _, err := r.Accept(nil); err != nil { // it still waits
			w.Error(err)
		}
		if st := w.done(b, call); st.Code != mx.StatusSuccess {
			w.Error(st.Code)
		}
		l.Close()
	})
}
