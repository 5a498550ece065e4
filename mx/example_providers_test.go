package mx_test

import (
	"fmt"
	"log"

	"gomx/mx"
)

// A program opens its endpoint over the best transport that meets its wishes.
func ExampleProviders() {
	if err := mx.Init(); err != nil {
		log.Fatal(err)
	}
	defer mx.Finalize()
	want, err := mx.ParseHints("ordered,atomic,size=1G,latency=us,reach=process")
	if err != nil {
		log.Fatal(err)
	}
	list, err := mx.Providers(want)
	if err != nil {
		log.Fatal(err)
	}
	best := list[0]
	if !best.Meets() {
		log.Fatal(best.Refused)
	}
	ep, err := mx.OpenEndpoint(uint32(best.Board), mx.AnyEndpoint, 0xcafe, mx.WithTransports(best.Transport))
	if err != nil {
		log.Fatal(err)
	}
	defer ep.Close()
	for _, p := range list {
		if p.Transport == "self" {
			fmt.Println(p.Transport, "is refused:", p.Refused[0])
		}
	}
	// Output:
	// self is refused: it reaches no farther than the endpoint itself
}
