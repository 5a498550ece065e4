// Command exs_copy moves a lot of bytes with io.Copy from one process to another, over a net.Conn of package exs or of package
// net. The receiver answers when it has them all.
package main

import (
	"errors"
	"flag"
	"io"
	"net"
	"os"
	"path/filepath"

	"gomx/bench/internal/figure"
	"gomx/bench/ordinary/internal/dial"
	"gomx/bench/ordinary/internal/payload"
)

func main() {
	serve := flag.Bool("serve", false, "be the side that receives")
	address := flag.String("address", "", "of the side that receives")
	over := flag.String("over", "exs", "`exs`, tcp or unix")
	mib := flag.Int("mib", 256, "how much, `MiB`")
	file := flag.Bool("file", false, "send a file")
	flag.Parse()
	c := &transfer{mib: *mib, file: *file}
	if *serve {
		figure.Fail(c.serve(*over, *address))
	} else {
		figure.Fail(c.call(*over, *address))
	}
}

type transfer struct {
	mib  int
	file bool
}

// counts is how many MiB each connection moves: the first one warms up.
func (t *transfer) counts() [2]int { return [2]int{t.mib/10 + 1, t.mib} }

func (t *transfer) serve(over, address string) error {
	ln, err := dial.Listen(over, address)
	if err != nil {
		return err
	}
	var m figure.Meter
	for i, mib := range t.counts() {
		conn, err := ln.Accept()
		if err != nil {
			return err
		}
		m = figure.Begin()
		to := &payload.Checker{Whole: i == 0}
		if _, err := io.Copy(to, conn); err != nil {
			return err
		}
		if err := to.End(int64(mib) << 20); err != nil {
			return err
		}
		if _, err := conn.Write([]byte{1}); err != nil {
			return err
		}
		if err := conn.Close(); err != nil {
			return err
		}
	}
	m.Aside()
	return ln.Close()
}

func (t *transfer) call(over, address string) error {
	for i, mib := range t.counts() {
		conn, err := dial.Dial(over, address)
		if err != nil {
			return err
		}
		from, clean, err := t.source(int64(mib) << 20)
		if err != nil {
			return err
		}
		m := figure.Begin()
		if err := send(conn, from); err != nil {
			return err
		}
		if i == 1 {
			m.Each(mib)
		}
		if err := errors.Join(conn.Close(), clean()); err != nil {
			return err
		}
	}
	return nil
}

// source returns the bytes to send, and what removes the file that they are in.
func (t *transfer) source(length int64) (io.Reader, func() error, error) {
	if !t.file {
		return payload.NewReader(length), func() error { return nil }, nil
	}
	dir, err := os.MkdirTemp("", "gomx-exs-copy-")
	if err != nil {
		return nil, nil, err
	}
	remove := func() error { return os.RemoveAll(dir) }
	f, err := os.Create(filepath.Join(dir, "data"))
	if err == nil {
		_, err = io.Copy(f, payload.NewReader(length))
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return f, func() error { return errors.Join(f.Close(), remove()) }, nil
}

// send sends all, says that this is the end, and waits for the answer.
func send(conn net.Conn, from io.Reader) error {
	if _, err := io.Copy(conn, from); err != nil {
		return err
	}
	if err := conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		return err
	}
	_, err := io.ReadFull(conn, make([]byte, 1))
	return err
}
