package main

import (
	"context"
	"crypto/rand"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

//go:embed page
var files embed.FS

// server serves the page and its data. Nothing is read while nobody looks.
type server struct {
	every time.Duration
	hosts []string // what a browser may call this server by
	root  string   // the path that everything is under: who does not know it sees nothing
	page  http.Handler

	mu      sync.Mutex
	c       *collector
	at      time.Time
	last    []byte // the view, in JSON
	lastErr error
}

// Bounds of what strangers can keep open.
const (
	readBound  = 5 * time.Second
	writeBound = 10 * time.Second
	idleBound  = 30 * time.Second
	mostHeader = 16 << 10
)

func serve(o *options, c *collector, stdout io.Writer, interrupted <-chan os.Signal) error {
	l, err := net.Listen("tcp", orLoopback(o.http))
	if err != nil {
		return err
	}
	s := newServer(o, c, l.Addr().String())
	h := &http.Server{Handler: s, ReadTimeout: readBound, WriteTimeout: writeBound, IdleTimeout: idleBound, MaxHeaderBytes: mostHeader}
	if _, err := fmt.Fprintf(stdout, "http://%s%s\n", s.hosts[0], s.root); err != nil {
		return errors.Join(err, l.Close())
	}
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(l) }()
	select {
	case err = <-ended:
		return err
	case <-interrupted:
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err = h.Shutdown(ctx); err != nil {
		err = h.Close() // what goes on still is cut off
	}
	return err
}

// orLoopback returns an address with its host. The page is for this host alone unless another one is named.
func orLoopback(address string) string {
	if host, port, err := net.SplitHostPort(address); err == nil && host == "" {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return address
}

func newServer(o *options, c *collector, listening string) *server {
	var key [16]byte
	_, _ = rand.Read(key[:])
	root := "/" + hex.EncodeToString(key[:]) + "/"
	page, err := fs.Sub(files, "page")
	if err != nil {
		panic(err) // the files are part of the program
	}
	return &server{every: o.every, hosts: hostsOf(o.http, listening), root: root, c: c, page: http.StripPrefix(root, http.FileServerFS(page))}
}

// hostsOf returns the names under which a browser may ask, that to print first. A page of a stranger's whose name leads
// here has another one.
func hostsOf(asked, listening string) []string {
	name, _, _ := net.SplitHostPort(asked)
	at, err := netip.ParseAddrPort(listening)
	if err != nil {
		return []string{listening}
	}
	port := fmt.Sprint(at.Port())
	hosts := []string{listening}
	if at.Addr().IsUnspecified() {
		hosts = nil
		if h, err := os.Hostname(); err == nil {
			hosts = append(hosts, strings.ToLower(net.JoinHostPort(h, port)))
		}
		addrs, _ := net.InterfaceAddrs()
		for _, a := range addrs {
			if n, ok := a.(*net.IPNet); ok {
				hosts = append(hosts, net.JoinHostPort(n.IP.String(), port))
			}
		}
	}
	if name != "" {
		hosts = append(hosts, strings.ToLower(net.JoinHostPort(name, port)))
	}
	if at.Addr().IsLoopback() || at.Addr().IsUnspecified() {
		hosts = append(hosts, net.JoinHostPort("localhost", port))
	}
	for _, h := range hosts {
		if bare, usual := strings.CutSuffix(h, ":80"); usual { // browsers leave it out
			hosts = append(hosts, bare)
		}
	}
	return hosts
}

// ServeHTTP answers the page's own requests and no others.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "+
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	switch {
	case !slices.Contains(s.hosts, strings.ToLower(r.Host)):
		http.Error(w, "this is not the host that the page is served under", http.StatusForbidden)
	case s.foreign(r):
		http.Error(w, "pages of others are not answered", http.StatusForbidden)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "want GET or HEAD", http.StatusMethodNotAllowed)
	case !strings.HasPrefix(r.URL.Path, s.root):
		http.Error(w, "want the address that mx_top has printed", http.StatusNotFound)
	case r.URL.Path == s.root+"view.json":
		s.serveView(w)
	default:
		s.page.ServeHTTP(w, r)
	}
}

// foreign reports whether a browser says that the page of another site asks. A link to the page may be followed from anywhere.
func (s *server) foreign(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		host, plain := strings.CutPrefix(origin, "http://")
		if !plain || !slices.Contains(s.hosts, host) {
			return true
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	return r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document"
}

// serveView answers with the last view, or with a new one if that is too old. Several who look at once see the same.
func (s *server) serveView(w http.ResponseWriter) {
	s.mu.Lock()
	if time.Since(s.at) >= s.every*9/10 {
		var v *view
		if v, s.lastErr = s.c.collect(); s.lastErr == nil {
			s.last, s.lastErr = json.Marshal(v)
		}
		s.at = time.Now()
	}
	text, err := s.last, s.lastErr
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(http.StatusServiceUnavailable)
		text, _ = json.Marshal(map[string]string{"error": err.Error()})
	}
	_, _ = w.Write(text) // whoever asked may have gone
}
