package mx_test

import (
	"fmt"
	"time"

	"gomx/mx"
)

// A receive names the bits it cares for; here the upper half, and any sender's
// number in the lower.
func ExampleEndpoint_Irecv_wildcard() {
	a, b, toB, done := twoEndpoints()
	defer done()

	const kind, kindBits = 0x7700000000, 0xffffffff00000000
	for number := range uint64(3) {
		must(a.Isend([]byte("hello"), toB, 0x7700000000+number, nil))
	}
	for range 3 {
		buf := make([]byte, 16)
		st := wait(b, must(b.Irecv(buf, kind&kindBits, kindBits, nil)))
		fmt.Printf("%s, number %d\n", buf[:st.XferLength], st.MatchInfo&^kindBits)
	}
	// Output:
	// hello, number 0
	// hello, number 1
	// hello, number 2
}

// The segments of the sender and of the receiver need not be the same.
func ExampleEndpoint_Irecvv() {
	a, b, toB, done := twoEndpoints()
	defer done()

	head, body := make([]byte, 4), make([]byte, 16)
	recv := must(b.Irecvv([][]byte{head, body}, 1, mx.MatchMaskNone, nil))
	must(a.Isendv([][]byte{[]byte("HE"), []byte("ADthe "), []byte("body")}, toB, 1, nil))

	st := wait(b, recv)
	fmt.Printf("%s|%s\n", head, body[:st.XferLength-4])
	// Output: HEAD|the body
}

// A probe tells the length of a message before there is memory for it.
func ExampleEndpoint_Probe() {
	a, b, toB, done := twoEndpoints()
	defer done()

	must(a.Isend([]byte("as long as it is"), toB, 5, nil))
	st, found, err := b.Probe(10*time.Second, 5, mx.MatchMaskNone)
	if err != nil || !found {
		fmt.Println("nothing came:", err)
		return
	}
	buf := make([]byte, st.MsgLength)
	wait(b, must(b.Irecv(buf, 5, mx.MatchMaskNone, nil)))
	fmt.Printf("%d bytes: %s\n", len(buf), buf)
	// Output: 16 bytes: as long as it is
}

// A cancelled receive is gone; one that has matched must be collected.
func ExampleEndpoint_Cancel() {
	_, b, _, done := twoEndpoints()
	defer done()

	recv := must(b.Irecv(make([]byte, 8), 1, mx.MatchMaskNone, nil))
	fmt.Println(must(b.Cancel(recv)))
	_, _, err := b.Test(recv)
	fmt.Println(err != nil)
	// Output:
	// true
	// true
}

// The handler sees each unexpected message, and may deal with it
// on the spot.
func ExampleEndpoint_RegisterUnexpHandler() {
	a, b, toB, done := twoEndpoints()
	defer done()

	var note string
	err := b.RegisterUnexpHandler(func(_ any, _ mx.EndpointAddr, match uint64, length uint32, data []byte) mx.UnexpAction {
		if match != 1 {
			return mx.RecvContinue
		}
		note = fmt.Sprintf("%d bytes on the spot: %s", length, data)
		return mx.RecvFinished
	}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	must(a.Isend([]byte("a note"), toB, 1, nil))
	must(a.Isend([]byte("a letter"), toB, 2, nil))

	buf := make([]byte, 16)
	st := wait(b, must(b.Irecv(buf, 2, mx.MatchMaskNone, nil)))
	fmt.Println(note)
	fmt.Printf("received: %s\n", buf[:st.XferLength])
	// Output:
	// 6 bytes on the spot: a note
	// received: a letter
}

// Two peers send with the same match information. A directed receive takes the message of one of them, whichever came
// first.
func ExampleEndpoint_IrecvDirected() {
	a, b, toB, done := twoEndpoints()
	defer done()
	must(a.Isend([]byte("first"), toB, 0, nil))
	fromA := wait(b, must(b.Irecv(make([]byte, 8), 0, mx.MatchMaskNone, nil))).Source

	wait(b, must(b.Isend([]byte("from b itself"), b.Addr(), 1, nil)))
	wait(a, must(a.Isend([]byte("from a"), toB, 1, nil)))
	buf := make([]byte, 64)
	st := wait(b, must(b.IrecvDirected(buf, fromA, true, 1, mx.MatchMaskNone, nil)))
	fmt.Printf("%s\n", buf[:st.XferLength])
	st = wait(b, must(b.IrecvDirected(buf, b.Addr(), true, 1, mx.MatchMaskNone, nil)))
	fmt.Printf("%s\n", buf[:st.XferLength])
	// Output:
	// from a
	// from b itself
}
