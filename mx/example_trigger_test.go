package mx_test

import (
	"fmt"
	"log"

	"gomx/mx"
)

// What b receives goes back to a by itself: the receive is counted, and the count triggers a send of the same bytes. The program
// of b makes no call for it.
func ExampleTrigger() {
	a, b, toB, done := twoEndpoints()
	defer done()
	wait(a, must(a.Isend([]byte("hello"), toB, 1, nil)))
	toA := wait(b, must(b.Irecv(make([]byte, 8), 1, mx.MatchMaskNone, nil))).Source

	came := must(b.NewCompletionCounter())
	defer came.Close()
	buf := make([]byte, 8)
	if err := came.Add(must(b.Irecv(buf, 2, mx.MatchMaskNone, nil))); err != nil {
		log.Fatal(err)
	}
	back := must(came.At(1).Isend(buf, toA, 3, nil))
	for _, p := range b.Pending() {
		if p.Request == back {
			fmt.Println(p.Kind, p.Stage)
		}
	}

	echo := make([]byte, 8)
	must(a.Isend([]byte("and back"), toB, 2, nil))
	wait(a, must(a.Irecv(echo, 3, mx.MatchMaskNone, nil)))
	fmt.Printf("%s\n", echo)
	// Output:
	// send begins when counter 1 comes to 1: it is at 0
	// and back
}
