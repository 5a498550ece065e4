package mx_test

import (
	"fmt"
	"log"
	"time"

	"gomx/mx"
)

// twoEndpoints opens two endpoints and connects the first to the second. They
// could as well be in two processes.
func twoEndpoints() (a, b *mx.Endpoint, toB mx.EndpointAddr, done func()) {
	const filter = 0xcafe
	if err := mx.Init(); err != nil {
		log.Fatal(err)
	}
	a = must(mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter))
	b = must(mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter))
	nic, id, err := mx.DecomposeEndpointAddr(b.Addr())
	if err != nil {
		log.Fatal(err)
	}
	toB = must(a.Connect(nic, id, filter, 10*time.Second))
	return a, b, toB, func() {
		a.Close()
		b.Close()
		mx.Finalize()
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// wait waits for a request.
func wait(ep *mx.Endpoint, r mx.Request) mx.Status {
	st, done, err := ep.Wait(r, 10*time.Second)
	if err != nil || !done {
		log.Fatalf("request is not complete: %v", err)
	}
	return st
}

func Example() {
	a, b, toB, done := twoEndpoints()
	defer done()

	buf := make([]byte, 64)
	recv := must(b.Irecv(buf, 42, mx.MatchMaskNone, nil))
	send := must(a.Isend([]byte("hello"), toB, 42, nil))

	st := wait(b, recv)
	fmt.Printf("%s: %d bytes, match %d\n", buf[:st.XferLength], st.MsgLength, st.MatchInfo)
	fmt.Println(wait(a, send).Code)
	// Output:
	// hello: 5 bytes, match 42
	// success
}
