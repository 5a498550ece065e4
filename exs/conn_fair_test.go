package exs_test

import (
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"

	"gomx/exs"
)

// TestWriterGoesOnBeforeTheAnswer: between sockets of one library a write has returned when whoever the reader tells of the data runs.
// Not parallel: with one processor the order of goroutines shows.
func TestWriterGoesOnBeforeTheAnswer(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	l, err := exs.Open(1)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ln, err := l.Listen("exs", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	a, err := l.Dial("exs", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	const size = 4 << 20
	rounds, late := 200, 0
	if raceDetector {
		rounds = 60
	}
	for range rounds {
		if !returnsFirst(t, a, b, make([]byte, size)) {
			late++
		}
	}
	if late > rounds*39/40 { // without the reader's yield all; with it those whose thread is asleep in the kernel
		t.Errorf("%d of %d writes return after the answer", late, rounds)
	}
}

// returnsFirst writes to a, reads from b, and reports whether the write has returned when a third goroutine hears that all was read.
func returnsFirst(t *testing.T, a, b net.Conn, data []byte) bool {
	var returned atomic.Bool
	heard, first := make(chan struct{}), make(chan bool)
	go func() {
		<-heard
		first <- returned.Load()
	}()
	go func() {
		if _, err := a.Write(data); err != nil {
			t.Error(err)
		}
		returned.Store(true)
	}()
	if _, err := io.ReadFull(b, make([]byte, len(data))); err != nil {
		t.Error(err)
	}
	close(heard)
	return <-first
}
