// Command exs_short makes one connection after the other, of package exs or of package net: dials, sends a message, gets it
// back, and closes.
package main

import (
	"flag"
	"io"
	"net"
	"sync"

	"gomx/bench/internal/figure"
	"gomx/bench/ordinary/internal/dial"
	"gomx/bench/ordinary/internal/payload"
	"gomx/bench/ordinary/internal/workers"
)

func main() {
	serving := flag.Bool("serve", false, "be the server")
	address := flag.String("address", "", "of the `server`")
	over := flag.String("over", "exs", "`exs`, tcp or unix")
	length := flag.Int("length", 64, "of a message, `bytes`")
	count := flag.Int("count", 1000, "connections of each goroutine")
	clients := flag.Int("workers", 1, "goroutines that dial")
	flag.Parse()
	s := &short{*over, *address, *length, *clients, [2]int{*count/10 + 1, *count}}
	if *serving {
		figure.Fail(s.serve())
	} else {
		figure.Fail(s.call())
	}
}

type short struct {
	over, address   string
	length, workers int
	counts          [2]int // of connections for each worker; the first ones warm up
}

// serve answers as many connections as there will be, each in a goroutine of its own.
func (s *short) serve() error {
	ln, err := dial.Listen(s.over, s.address)
	if err != nil {
		return err
	}
	var m figure.Meter
	for i, count := range s.counts {
		m = figure.Begin()
		var running sync.WaitGroup
		for range count*s.workers + 1 - i { // the very first one finds out whether the server is there
			conn, err := ln.Accept()
			if err != nil {
				return err
			}
			running.Go(func() { figure.Fail(answer(conn)) })
		}
		running.Wait()
	}
	m.Aside()
	return ln.Close()
}

func answer(conn net.Conn) error {
	if _, err := io.Copy(conn, conn); err != nil {
		return err
	}
	return conn.Close()
}

func (s *short) call() error {
	first, err := dial.Dial(s.over, s.address)
	if err != nil {
		return err
	}
	if err := s.echo(first); err != nil {
		return err
	}
	var m figure.Meter
	for _, count := range s.counts {
		m = figure.Begin()
		if err := workers.Run(s.workers, func() error { return s.dial(count) }); err != nil {
			return err
		}
	}
	m.Each(s.counts[1] * s.workers)
	return nil
}

func (s *short) dial(count int) error {
	for range count {
		conn, err := dial.Once(s.over, s.address)
		if err != nil {
			return err
		}
		if err := s.echo(conn); err != nil {
			return err
		}
	}
	return nil
}

// echo ends the connection.
func (s *short) echo(conn net.Conn) error {
	out, back := payload.Bytes(s.length), make([]byte, s.length)
	if _, err := conn.Write(out); err != nil {
		return err
	}
	if _, err := io.ReadFull(conn, back); err != nil {
		return err
	}
	if err := payload.Same(back, out); err != nil {
		return err
	}
	return conn.Close()
}
