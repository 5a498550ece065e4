package exs_test

import (
	"errors"
	"io"
	"sync/atomic"
	"syscall"
	"testing"

	"gomx/exs"
)

// A server answers without having read what the client writes, and closes. The client's Write fails, but not before the client has
// read the answer: a program that gives the connection up because of the Write would not see it.
func TestConnAnswerBeforeClose(t *testing.T) {
	connected(t, func(t *testing.T, a, b *exs.Conn) {
		answer := pattern(6000, 8)
		var got atomic.Int64
		ended := make(chan error)
		go func() {
			in := make([]byte, 1000)
			for {
				n, err := a.Read(in)
				got.Add(int64(n))
				if err != nil {
					ended <- err
					return
				}
			}
		}()
		go func() {
			if _, err := io.ReadFull(b, make([]byte, 10)); err != nil {
				t.Error(err)
			}
			if _, err := b.Write(answer); err != nil {
				t.Error(err)
			}
			_ = b.Close()
		}()
		_, err := a.Write(make([]byte, 20<<20))
		if n := got.Load(); !errors.Is(err, syscall.EPIPE) || n != int64(len(answer)) {
			t.Errorf("Write: %v, when %d bytes of %d were read", err, n, len(answer))
		}
		if err := <-ended; err != io.EOF || got.Load() != int64(len(answer)) {
			t.Errorf("Read: %v, after %d bytes", err, got.Load())
		}
	})
}

// One who reads later finds all that was sent before the peer closed.
func TestConnAnswerReadLater(t *testing.T) {
	connected(t, func(t *testing.T, a, b *exs.Conn) {
		answer := pattern(6000, 8)
		go func() {
			_, _ = b.Write(answer)
			_ = b.Close()
		}()
		for {
			if _, err := a.Write(make([]byte, 1<<20)); err != nil {
				if !errors.Is(err, syscall.EPIPE) {
					t.Error(err)
				}
				break
			}
		}
		got, err := io.ReadAll(a)
		if string(got) != string(answer) || err != nil {
			t.Errorf("%d bytes, %v", len(got), err)
		}
	})
}
