// Command exs_http serves answers with net/http, and fetches them, over connections of package exs or of package net: small ones
// or downloads of a file, one after the other or several at a time, in HTTP/1.1 or in HTTP/2 over TLS.
package main

import (
	"flag"

	"gomx/bench/internal/figure"
)

// options are the same on both sides.
type options struct {
	over, address string
	length        int
	workers       int
	file          bool
	h2            bool
}

// connections is how many the workers use at a time.
func (o *options) connections() int {
	if o.h2 {
		return 1
	}
	return o.workers
}

func main() {
	o := &options{}
	serve := flag.Bool("serve", false, "be the server")
	flag.StringVar(&o.address, "address", "", "of the `server`")
	flag.StringVar(&o.over, "over", "exs", "`exs`, tcp or unix")
	flag.IntVar(&o.length, "length", 64, "of an answer, `bytes`")
	flag.IntVar(&o.workers, "workers", 1, "goroutines that fetch")
	flag.BoolVar(&o.file, "file", false, "serve a file, and copy it as it comes")
	flag.BoolVar(&o.h2, "h2", false, "HTTP/2 over TLS")
	count := flag.Int("count", 10_000, "requests of all goroutines together")
	flag.Parse()
	if *serve {
		figure.Fail((&server{options: o}).serve())
	} else {
		figure.Fail(call(o, *count))
	}
}
