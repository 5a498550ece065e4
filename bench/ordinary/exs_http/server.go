package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"

	"gomx/bench/internal/figure"
	"gomx/bench/ordinary/internal/dial"
	"gomx/bench/ordinary/internal/payload"
	"gomx/bench/ordinary/internal/workers"
)

type server struct {
	*options
	meter figure.Meter
	conns atomic.Int64 // how many there have been
	end   chan struct{}
}

// serve serves until somebody fetches /end. All workers fetch /meet, after which there are as many connections as
// they need. The measurement begins with /begin.
func (s *server) serve() error {
	data, clean, err := s.data()
	if err != nil {
		return err
	}
	ln, err := dial.Listen(s.over, s.address)
	if err != nil {
		return errors.Join(err, clean())
	}
	s.end = make(chan struct{})
	meeting := workers.NewMeeting(s.workers)
	mux := http.NewServeMux()
	mux.Handle("/data", data)
	mux.HandleFunc("/meet", func(http.ResponseWriter, *http.Request) { meeting.Come() })
	mux.HandleFunc("/begin", func(http.ResponseWriter, *http.Request) { s.meter = figure.Begin() })
	mux.HandleFunc("/end", func(http.ResponseWriter, *http.Request) { s.meter.Aside(); close(s.end) })
	return errors.Join(s.run(&http.Server{Handler: mux, ConnState: s.count}, ln), clean())
}

func (s *server) count(_ net.Conn, state http.ConnState) {
	if state == http.StateNew {
		s.conns.Add(1)
	}
}

// data returns what answers with the payload, and what removes its file.
func (s *server) data() (http.Handler, func() error, error) {
	if !s.file {
		body := payload.Bytes(s.length)
		write := func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) }
		return http.HandlerFunc(write), func() error { return nil }, nil
	}
	dir, err := os.MkdirTemp("", "gomx-exs-http-")
	if err != nil {
		return nil, nil, err
	}
	err = os.WriteFile(filepath.Join(dir, "data"), payload.Bytes(s.length), 0o600)
	return http.FileServer(http.Dir(dir)), func() error { return os.RemoveAll(dir) }, err
}

func (s *server) run(h *http.Server, ln net.Listener) error {
	failed := make(chan error, 1)
	go func() {
		if s.h2 {
			h.TLSConfig = serverTLS()
			failed <- h.ServeTLS(ln, "", "")
		} else {
			failed <- h.Serve(ln)
		}
	}()
	select {
	case err := <-failed:
		return err
	case <-s.end:
	}
	if err := h.Shutdown(context.Background()); err != nil {
		return err
	}
	// More are no fault: net/http gives one up whose goroutine has not had a processor for 50 ms.
	if n := int(s.conns.Load()); n < s.connections() {
		return fmt.Errorf("%d connections were made, not %d", n, s.connections())
	}
	return nil
}
