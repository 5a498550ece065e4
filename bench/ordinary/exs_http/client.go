package main

import (
	"fmt"
	"io"
	"net/http"

	"gomx/bench/internal/figure"
	"gomx/bench/ordinary/internal/dial"
	"gomx/bench/ordinary/internal/payload"
	"gomx/bench/ordinary/internal/workers"
)

type client struct {
	*options
	http  *http.Client
	url   string
	want  []byte
	whole bool // look at all bytes
}

func call(o *options, count int) error {
	transport := &http.Transport{
		DialContext:         dial.Context(o.over, o.address),
		MaxIdleConnsPerHost: o.workers, // 2 are the default, and others would be closed after each request
	}
	c := &client{options: o, http: &http.Client{Transport: transport}, want: payload.Bytes(o.length), whole: true}
	c.url = "http://" + host
	if o.h2 {
		c.url = "https://" + host
		transport.TLSClientConfig, transport.ForceAttemptHTTP2 = clientTLS(), true
	}
	if err := c.meet(); err != nil {
		return err
	}
	each := max(count/o.workers, 1)
	if err := c.all(each/10 + 1); err != nil {
		return err
	}
	if err := c.get("/begin"); err != nil {
		return err
	}
	c.whole = false
	m := figure.Begin()
	if err := c.all(each); err != nil {
		return err
	}
	m.Each(each * o.workers)
	if err := c.get("/end"); err != nil {
		return err
	}
	transport.CloseIdleConnections()
	return nil
}

// meet has each worker wait at the server for the others, which takes a connection for each, or one of HTTP/2: that is
// made before, since requests that come while there is none dial, all of them.
func (c *client) meet() error {
	if c.h2 {
		if err := c.get("/data"); err != nil {
			return err
		}
	}
	return workers.Run(c.workers, func() error { return c.get("/meet") })
}

func (c *client) all(each int) error {
	return workers.Run(c.workers, func() error {
		for range each {
			if err := c.get("/data"); err != nil {
				return err
			}
		}
		return nil
	})
}

func (c *client) get(path string) error {
	r, err := c.http.Get(c.url + path)
	if err != nil {
		return err
	}
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", path, r.Status)
	}
	if c.h2 && (r.ProtoMajor != 2 || r.TLS == nil || r.TLS.NegotiatedProtocol != "h2") {
		return fmt.Errorf("%s: answered in %s, TLS %v", path, r.Proto, r.TLS)
	}
	if path == "/data" {
		err = c.take(r.Body)
	} else {
		_, err = io.Copy(io.Discard, r.Body)
	}
	if err != nil {
		return err
	}
	return r.Body.Close()
}

// take reads an answer as programs do: a small one whole, a download by io.Copy.
func (c *client) take(body io.Reader) error {
	if !c.file {
		got, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		return payload.Same(got, c.want)
	}
	to := &payload.Checker{Whole: c.whole}
	if _, err := io.Copy(to, body); err != nil {
		return err
	}
	return to.End(int64(c.length))
}
