// Command exs_http is the file server of package net/http over Extended Sockets, and
// a client for it. Nothing in it but the listener and the dialer knows what the
// bytes travel over.
//
//	exs_http -listen :8080 -dir /srv/data
//	exs_http -get http://there:8080/results.csv > results.csv
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"

	"gomx/exs"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:8080", "the `address` to serve at")
	dir := flag.String("dir", ".", "the `directory` to serve")
	url := flag.String("get", "", "fetch this `URL` instead, to the standard output")
	flag.Parse()
	if err := run(*listen, *dir, *url); err != nil {
		fmt.Fprintln(os.Stderr, "exs_http:", err)
		os.Exit(1)
	}
}

func run(listen, dir, url string) error {
	if err := exs.Init(exs.Version1); err != nil {
		return err
	}
	defer exs.Finalize()
	if url != "" {
		return get(os.Stdout, url)
	}
	ln, err := exs.Listen("exs", listen)
	if err != nil {
		return err
	}
	fmt.Printf("serving %s at http://%v/\n", dir, ln.Addr())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return serve(ctx, ln, dir)
}

// serve serves a directory until the context ends and what was asked for is
// delivered.
func serve(ctx context.Context, ln net.Listener, dir string) error {
	server := &http.Server{Handler: http.FileServer(http.Dir(dir))}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ln) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return server.Shutdown(context.Background())
	}
}

// get fetches a file.
func get(to io.Writer, url string) error {
	transport := &http.Transport{DialContext: exs.DialContext}
	defer transport.CloseIdleConnections()
	r, err := (&http.Client{Transport: transport}).Get(url)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, r.Status)
	}
	_, err = io.Copy(to, r.Body)
	return err
}
