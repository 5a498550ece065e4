package mx_test

import (
	"fmt"
	"log"

	"gomx/mx"
)

// A server has a context for control messages and two for data, each for a goroutine of its own. Clients connect once.
func ExampleWithContexts() {
	if err := mx.Init(); err != nil {
		log.Fatal(err)
	}
	defer mx.Finalize()
	server, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, 0xcafe, mx.WithTransports("mem"), mx.WithContexts(3, "control"))
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	client, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, 0xcafe, mx.WithTransports("mem"))
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	nic, id, err := mx.DecomposeEndpointAddr(server.Addr())
	if err != nil {
		log.Fatal(err)
	}
	addr, err := client.Connect(nic, id, 0xcafe, mx.Infinite)
	if err != nil {
		log.Fatal(err)
	}

	for name, index := range map[string]int{"control": 0, "": 2} { // by name, or by index
		to, err := addr.ContextAt(index)
		if name != "" {
			to, err = addr.ContextNamed(name)
		}
		if err != nil {
			log.Fatal(err)
		}
		r, err := client.Isend([]byte("hello"), to, uint64(index), nil)
		if err == nil {
			_, _, err = client.Wait(r, mx.Infinite)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	for i := range server.Contexts() {
		context, err := server.ContextAt(i) // for a goroutine of its own
		if err != nil {
			log.Fatal(err)
		}
		st, found, err := context.Probe(0, 0, 0)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("context", i, context.ContextName(), found, st.MsgLength)
	}
	// Output:
	// context 0 control true 5
	// context 1  false 0
	// context 2  true 5
}
