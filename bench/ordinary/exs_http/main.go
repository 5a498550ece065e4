// Command exs_http serves small answers with net/http, and fetches them one after the other over one connection, of package
// exs or of package net.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"

	"gomx/bench/ordinary/internal/dial"
	"gomx/bench/ordinary/internal/figure"
)

func main() {
	server := flag.Bool("serve", false, "be the server")
	address := flag.String("address", "", "of the `server`")
	over := flag.String("over", "exs", "`exs` or tcp")
	length := flag.Int("length", 64, "of an answer, `bytes`")
	count := flag.Int("count", 10_000, "requests")
	flag.Parse()
	if *server {
		figure.Fail(serve(*over, *address, *length))
	} else {
		figure.Fail(call(*over, *address, *count))
	}
}

// serve serves until somebody fetches /end. The measurement begins with /begin.
func serve(over, address string, length int) error {
	ln, err := dial.Listen(over, address)
	if err != nil {
		return err
	}
	var m figure.Meter
	body, end := make([]byte, length), make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })
	mux.HandleFunc("/begin", func(http.ResponseWriter, *http.Request) { m = figure.Begin() })
	mux.HandleFunc("/end", func(http.ResponseWriter, *http.Request) { m.Aside(); close(end) })
	s := &http.Server{Handler: mux}
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(ln) }()
	select {
	case err := <-failed:
		return err
	case <-end:
		return s.Shutdown(context.Background())
	}
}

func call(over, address string, count int) error {
	transport := &http.Transport{DialContext: dial.Context(over)}
	c := &client{&http.Client{Transport: transport}, "http://" + address}
	if err := c.get("/data", count/10+1); err != nil {
		return err
	}
	if err := c.get("/begin", 1); err != nil {
		return err
	}
	m := figure.Begin()
	if err := c.get("/data", count); err != nil {
		return err
	}
	m.Each(count)
	if err := c.get("/end", 1); err != nil {
		return err
	}
	transport.CloseIdleConnections()
	return nil
}

type client struct {
	http *http.Client
	url  string
}

func (c *client) get(path string, count int) error {
	for range count {
		r, err := c.http.Get(c.url + path)
		if err != nil {
			return err
		}
		if r.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", path, r.Status)
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return err
		}
		if err := r.Body.Close(); err != nil {
			return err
		}
	}
	return nil
}
