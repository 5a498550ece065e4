// Command http is a small HTTP service and a client of it, over Extended Sockets or over TCP.
//
//	http                             both in one process
//	http -serve localhost:7000       the service
//	http -get localhost:7000         the client
//	http -net tcp ...                the same over package net
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"

	"gomx/exs"
)

func main() {
	over := flag.String("net", "exs", "what connections are made of: exs or tcp")
	serveAt := flag.String("serve", "", "serve at this `address` until interrupted")
	getFrom := flag.String("get", "", "ask the service at this `address`")
	flag.Parse()
	if err := exs.Init(exs.Version1); err != nil {
		log.Fatal(err)
	}
	defer exs.Finalize()
	var err error
	switch {
	case *serveAt != "":
		err = serve(*over, *serveAt)
	case *getFrom != "":
		err = get(*over, *getFrom)
	default:
		err = both(*over)
	}
	if err != nil {
		log.Print(err)
		exs.Finalize()
		os.Exit(1)
	}
}

// listen and client are all that the move has changed: exs.Listen is in the place of net.Listen, and exs.DialContext in
// that of the dialer that http.Transport has by itself.

func listen(over, address string) (net.Listener, error) {
	if over == "exs" {
		return exs.Listen("exs", address)
	}
	return net.Listen(over, address)
}

func client(over string) *http.Client {
	if over == "exs" {
		return &http.Client{Transport: &http.Transport{DialContext: exs.DialContext}}
	}
	return http.DefaultClient
}

func handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello/{name}", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "hello, %s\n", r.PathValue("name"))
	})
	mux.HandleFunc("POST /length", func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintf(w, "%d bytes\n", n)
	})
	return mux
}

func serve(over, address string) error {
	ln, err := listen(over, address)
	if err != nil {
		return err
	}
	fmt.Printf("serving at %v\n", ln.Addr())
	server := &http.Server{Handler: handler()}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, func() { server.Close() })
	if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func get(over, address string) error {
	c := client(over)
	defer c.CloseIdleConnections()
	r, err := c.Get("http://" + address + "/hello/gopher")
	if err := show(r, err); err != nil {
		return err
	}
	r, err = c.Post("http://"+address+"/length", "application/octet-stream", io.LimitReader(zeros{}, 10<<20))
	return show(r, err)
}

func show(r *http.Response, err error) error {
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return errors.New(r.Status)
	}
	_, err = io.Copy(os.Stdout, r.Body)
	return err
}

func both(over string) error {
	ln, err := listen(over, "localhost:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler()}
	defer server.Close()
	go server.Serve(ln)
	return get(over, ln.Addr().String())
}

// zeros is a reader of zeros without end.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}
