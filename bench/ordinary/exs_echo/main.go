// Command exs_echo sends messages to a server and gets each back, over a net.Conn of package exs or of package net.
// Each side reads in a goroutine beside the one that writes, as clients and servers of most protocols do, or with
// -plain in the same.
package main

import (
	"flag"
	"io"
	"net"
	"slices"
	"time"

	"gomx/bench/internal/figure"
	"gomx/bench/ordinary/internal/dial"
)

func main() {
	serve := flag.Bool("serve", false, "be the server")
	address := flag.String("address", "", "of the `server`")
	over := flag.String("over", "exs", "`exs` or tcp")
	length := flag.Int("length", 64, "of a message, `bytes`")
	count := flag.Int("count", 10_000, "round trips")
	plain := flag.Bool("plain", false, "read and write in one goroutine")
	pause := flag.Duration("pause", 0, "rest before each message, so that both sides sleep")
	flag.Parse()
	e := &echo{length: *length, count: *count, plain: *plain, pause: *pause}
	if *serve {
		figure.Fail(e.serve(*over, *address))
	} else {
		figure.Fail(e.call(*over, *address))
	}
}

type echo struct {
	length, count int
	plain         bool
	pause         time.Duration

	conn     net.Conn
	buf      []byte
	incoming chan []byte // what the reader has read; closed at the end
}

// begin starts the reader.
func (e *echo) begin(conn net.Conn) {
	e.conn, e.buf = conn, make([]byte, e.length)
	if e.plain {
		return
	}
	e.incoming = make(chan []byte)
	go func() {
		defer close(e.incoming)
		bufs := [2][]byte{make([]byte, e.length), make([]byte, e.length)}
		for i := 0; ; i++ {
			if _, err := io.ReadFull(conn, bufs[i%2]); err != nil {
				return
			}
			e.incoming <- bufs[i%2]
		}
	}()
}

func (e *echo) next() ([]byte, error) {
	if e.plain {
		_, err := io.ReadFull(e.conn, e.buf)
		return e.buf, err
	}
	b, ok := <-e.incoming
	if !ok {
		return nil, io.EOF
	}
	return b, nil
}

// serve answers until the client closes.
func (e *echo) serve(over, address string) error {
	ln, err := dial.Listen(over, address)
	if err != nil {
		return err
	}
	conn, err := ln.Accept()
	if err != nil {
		return err
	}
	e.begin(conn)
	var m figure.Meter
	for n := -(e.count/10 + 1); ; n++ {
		if n == 0 {
			m = figure.Begin()
		}
		b, err := e.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if _, err := conn.Write(b); err != nil {
			return err
		}
	}
	m.Aside()
	return conn.Close()
}

func (e *echo) call(over, address string) error {
	conn, err := dial.Dial(over, address)
	if err != nil {
		return err
	}
	e.begin(conn)
	if _, err := e.rounds(e.count/10 + 1); err != nil {
		return err
	}
	m := figure.Begin()
	trips, err := e.rounds(e.count)
	if err != nil {
		return err
	}
	if e.pause > 0 {
		slices.Sort(trips)
		m.Print(trips[len(trips)/2]/2, 2*e.count)
	} else {
		m.Each(e.count)
	}
	return conn.Close()
}

// rounds returns the time of each round trip with a pause before it, us.
func (e *echo) rounds(count int) (trips []float64, err error) {
	out := make([]byte, e.length)
	for range count {
		var begin time.Time
		if e.pause > 0 {
			time.Sleep(e.pause)
			begin = time.Now()
		}
		if _, err := e.conn.Write(out); err != nil {
			return nil, err
		}
		if _, err := e.next(); err != nil {
			return nil, err
		}
		if e.pause > 0 {
			trips = append(trips, time.Since(begin).Seconds()*1e6)
		}
	}
	return trips, nil
}
