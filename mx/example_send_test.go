package mx_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"gomx/mx"
)

// Of a large message only the header travels until it is matched; then the
// receiver copies it out of the sender's buffer. Buffers from Alloc make that
// faster.
func ExampleAlloc() {
	a, b, toB, done := twoEndpoints()
	defer done()

	large := must(mx.Alloc(1 << 20))
	defer func() {
		if err := mx.Free(large); err != nil {
			log.Fatal(err)
		}
	}()
	copy(large, "one megabyte")

	send := must(a.Isend(large, toB, 1, nil))
	_, complete, _ := a.Test(send)
	fmt.Println("complete before it is received:", complete)

	buf := make([]byte, 1<<20)
	st := wait(b, must(b.Irecv(buf, 1, mx.MatchMaskNone, nil)))
	fmt.Printf("%s: %d bytes\n", buf[:12], st.XferLength)
	fmt.Println(wait(a, send).Code)
	// Output:
	// complete before it is received: false
	// one megabyte: 1048576 bytes
	// success
}

// A synchronous send is complete when it has been matched; the buffer of a small
// one is free before.
func ExampleEndpoint_Issend() {
	a, b, toB, done := twoEndpoints()
	defer done()

	send := must(a.Issend([]byte("are you there?"), toB, 1, nil))
	fmt.Println("buffered:", must(a.Ibuffered(send)))
	_, complete, _ := a.Test(send)
	fmt.Println("complete:", complete)

	wait(b, must(b.Irecv(make([]byte, 16), 1, mx.MatchMaskNone, nil)))
	fmt.Println(wait(a, send).Code)
	// Output:
	// buffered: true
	// complete: false
	// success
}

// An acknowledged send is complete when the message is with the peer's library, whether the peer's program receives it
// now, later or never: what the sender does from then on, such as ending, does not lose it.
func ExampleEndpoint_IsendAcked() {
	a, b, toB, done := twoEndpoints()
	defer done()

	fmt.Println(wait(a, must(a.IsendAcked([]byte("for later"), toB, 1, nil))).Code)
	if err := a.Close(); err != nil {
		log.Fatal(err)
	}

	buf := make([]byte, 16)
	st := wait(b, must(b.Irecv(buf, 1, mx.MatchMaskNone, nil)))
	fmt.Printf("%s\n", buf[:st.XferLength])
	// Output:
	// success
	// for later
}

// A program that reacts to whatever completes can iterate over it.
func ExampleEndpoint_Completions() {
	a, b, toB, done := twoEndpoints()
	defer done()

	for i := range uint64(3) {
		must(b.Irecv(make([]byte, 8), i, mx.MatchMaskNone, fmt.Sprintf("receive %d", i)))
	}
	for i := range uint64(3) {
		must(a.Isend([]byte("ping"), toB, 2-i, nil))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	left := 3
	for st := range b.Completions(ctx, 0, 0) {
		fmt.Println(st.Context, "got", st.XferLength, "bytes")
		if left--; left == 0 {
			break
		}
	}
	// Output:
	// receive 2 got 4 bytes
	// receive 1 got 4 bytes
	// receive 0 got 4 bytes
}
