package exs_test

import (
	"crypto/tls"
	"errors"
	"io"
	"syscall"
	"testing"
	"time"

	"gomx/exs"
)

// The first short Write after the peer has closed succeeds, as over TCP, and the next one does not. One after CloseWrite never does.
func TestConnLastWord(t *testing.T) {
	connected(t, func(t *testing.T, a, b *exs.Conn) {
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(a); len(got) != 0 || err != nil {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
		time.Sleep(50 * time.Millisecond) // until a knows that b reads nothing, either
		if n, err := a.Write(make([]byte, 31)); n != 31 || err != nil {
			t.Errorf("the first: %d, %v", n, err)
		}
		if n, err := a.Write(make([]byte, 31)); n != 0 || !errors.Is(err, syscall.EPIPE) {
			t.Errorf("the second: %d, %v", n, err)
		}
	})
	connected(t, func(t *testing.T, a, b *exs.Conn) {
		if err := errors.Join(a.CloseWrite(), b.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(a); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
		if _, err := a.Write(make([]byte, 31)); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("after CloseWrite: %v", err)
		}
	})
	connected(t, func(t *testing.T, a, b *exs.Conn) {
		closes := time.AfterFunc(50*time.Millisecond, func() { _ = b.Close() })
		defer closes.Stop()
		if n, err := a.Write(make([]byte, 64<<20)); n == 64<<20 || !errors.Is(err, syscall.EPIPE) {
			t.Errorf("the Write during which the peer has closed: %d, %v", n, err)
		}
		time.Sleep(50 * time.Millisecond)
		if n, err := a.Write(make([]byte, 31)); n != 0 || !errors.Is(err, syscall.EPIPE) {
			t.Errorf("behind a Write that has failed: %d, %v", n, err)
		}
	})
}

// A client over TLS closes after its server: its last word, which nobody reads, is no error.
func TestConnTLSClosesLast(t *testing.T) {
	connected(t, func(t *testing.T, a, b *exs.Conn) {
		client, server := testTLS(t, a, b)
		go func() {
			_, _ = server.Write([]byte("bye"))
			_ = server.Close()
		}()
		if got, err := io.ReadAll(client); string(got) != "bye" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
		time.Sleep(50 * time.Millisecond)
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
}

// testTLS returns the two ends of a connection over TLS.
func testTLS(t *testing.T, a, b *exs.Conn) (client, server *tls.Conn) {
	certs := (&world{TB: t}).vouchedFor().Certificates
	server = tls.Server(b, &tls.Config{Certificates: certs})
	client = tls.Client(a, &tls.Config{InsecureSkipVerify: true})
	shaken := make(chan error, 1)
	go func() { shaken <- server.Handshake() }()
	if err := errors.Join(client.Handshake(), <-shaken); err != nil {
		t.Fatal(err)
	}
	return client, server
}
