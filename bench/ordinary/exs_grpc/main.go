// Command exs_grpc makes calls of gRPC over one connection of package exs or of package net: one after the other, several at
// a time, or messages of a stream. What is sent is a message of the protocol buffers themselves (BytesValue), so that no code is
// generated.
package main

import (
	"flag"

	"gomx/bench/internal/figure"
)

type options struct {
	over, address string
	length, count int
	workers       int
	stream        string
}

func main() {
	o := &options{}
	serving := flag.Bool("serve", false, "be the server")
	flag.StringVar(&o.address, "address", "", "of the `server`")
	flag.StringVar(&o.over, "over", "exs", "`exs`, tcp or unix")
	flag.IntVar(&o.length, "length", 64, "of a message, `bytes`")
	flag.IntVar(&o.count, "count", 10_000, "calls of all goroutines together, or messages")
	flag.IntVar(&o.workers, "workers", 1, "goroutines that call")
	flag.StringVar(&o.stream, "stream", "", "instead of calls a stream: `echo`, or answers to one request")
	flag.Parse()
	if *serving {
		figure.Fail(serve(o))
	} else {
		figure.Fail(call(o))
	}
}
