package mx_test

import (
	"context"
	"fmt"
	"log"

	"gomx/mx"
)

// A program connects with all endpoints of a list, and goes on with those that answer.
func ExampleEndpoint_ConnectAll() {
	a, b, _, done := twoEndpoints()
	defer done()
	nic, id, err := mx.DecomposeEndpointAddr(b.Addr())
	if err != nil {
		log.Fatal(err)
	}
	list := []mx.PeerName{{NIC: nic, Endpoint: id, Filter: 0xcafe}, {NIC: nic, Endpoint: id, Filter: 0xbad}}
	addrs, err := a.ConnectAll(context.Background(), list)
	if err != nil {
		failed := err.(mx.ConnectAllError)
		for i := range list {
			fmt.Println("peer", i, "is connected:", failed[i] == nil, !addrs[i].IsZero())
		}
	}
	// Output:
	// peer 0 is connected: true true
	// peer 1 is connected: false false
}
