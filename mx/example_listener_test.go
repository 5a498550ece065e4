package mx_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"gomx/mx"
)

// opened opens an endpoint, and returns what others need to connect to it.
func opened(params ...mx.Param) (*mx.Endpoint, mx.PeerName) {
	const filter = 0xcafe
	ep := must(mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter, params...))
	nic, id, err := mx.DecomposeEndpointAddr(ep.Addr())
	if err != nil {
		log.Fatal(err)
	}
	return ep, mx.PeerName{NIC: nic, Endpoint: id, Filter: filter}
}

// A server accepts those who connect one by one, and tells each its number.
func ExampleEndpoint_Listen() {
	must(0, mx.Init())
	defer mx.Finalize()
	server, name := opened(mx.Passive())
	defer server.Close()
	listener := must(server.Listen())
	go func() {
		for number := 1; ; number++ {
			request, err := listener.Wait(context.Background(), mx.Infinite)
			if err != nil {
				return // it is closed
			}
			answer := fmt.Sprintf("%s is number %d", request.Data, number)
			if _, err := request.Accept([]byte(answer)); err != nil {
				log.Print(err) // the client has given up
			}
		}
	}()
	for _, who := range []string{"Ann", "Bob"} {
		client, _ := opened()
		_, answer, err := client.ConnectWith(context.Background(), name, []byte(who))
		fmt.Printf("%s, %v\n", answer, err)
		client.Close()
	}
	// Output:
	// Ann is number 1, <nil>
	// Bob is number 2, <nil>
}

// A function decides who is admitted. Who is not learns why.
func ExampleEndpoint_Admit() {
	must(0, mx.Init())
	defer mx.Finalize()
	server, name := opened(mx.Passive())
	defer server.Close()
	must(0, server.Admit(func(r *mx.ConnectionRequest) (bool, []byte) {
		if string(r.Data) != "open sesame" {
			return false, []byte("say the words")
		}
		return true, []byte("come in")
	}))
	client, _ := opened()
	defer client.Close()
	for _, words := range []string{"please", "open sesame"} {
		_, answer, err := client.ConnectWith(context.Background(), name, []byte(words))
		var rejected *mx.RejectedError
		if errors.As(err, &rejected) {
			answer = rejected.Data
		}
		fmt.Printf("admitted: %v, %s\n", err == nil, answer)
	}
	// Output:
	// admitted: false, say the words
	// admitted: true, come in
}
