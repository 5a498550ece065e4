package exs_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"io"
	"math/big"
	"net"
	"strconv"
	"testing"
	"time"

	"gomx/exs"
	"gomx/mx"
)

// vouchedFor makes a configuration of TLS whose certificate is its own authority.
func (w *world) vouchedFor() *tls.Config {
	w.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	w.ok(err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	w.ok(err)
	cert, err := x509.ParseCertificate(der)
	w.ok(err)
	roots := x509.NewCertPool()
	roots.AddCert(cert)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, RootCAs: roots}
}

// TLS at one side alone is named, and so is what to do about it.
func TestDialTLSOfOneSide(t *testing.T) {
	w := newWorld(t, "tcp")
	secured := w.open(mx.WithTransports("tcp"), mx.WithTLS(w.vouchedFor()))
	for _, c := range []struct {
		says         string
		client, host *exs.Library
	}{{"it asks for TLS", w.here, secured}, {"it has no TLS", secured, w.there}} {
		ln, err := c.host.Listen("exs", "127.0.0.1:0")
		w.ok(err)
		_, err = c.client.Dial("exs", ln.Addr().String())
		refused(t, err, exs.EHOSTUNREACH)
		says(t, err, c.says, "MX_TLS")
		w.ok(ln.Close())
	}
}

// A way to the listener's endpoint on which somebody hangs up is no way, whatever the listener speaks.
func TestDialWayIsBroken(t *testing.T) {
	w := newWorld(t, "tcp")
	w.here = w.open(mx.WithTransports("tcp"), mx.WithConnectTimeout(100*time.Millisecond))
	id, way := w.broken()
	defer way.Close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	w.ok(err)
	defer ln.Close()
	go func() {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		hello := make([]byte, 72)
		_, _ = io.ReadFull(c, hello)
		binary.LittleEndian.PutUint32(hello[20:], id)
		_, _ = c.Write(hello)
		_, _ = c.Read(hello) // until the client has given up
		_ = c.Close()
	}()
	_, err = w.here.Dial("exs", ln.Addr().String())
	refused(t, err, exs.EHOSTUNREACH)
}

// broken returns the id of an endpoint in whose place somebody hangs up on everyone.
func (w *world) broken() (id uint32, way net.Listener) {
	w.Helper()
	const portOfEndpoint0, last = 20000, 4095
	for id = last; ; id-- {
		ln, err := net.Listen("tcp", ":"+strconv.Itoa(int(portOfEndpoint0+id)))
		if err != nil && id > last-100 {
			continue // somebody has it
		}
		w.ok(err)
		go func() {
			for c, err := ln.Accept(); err == nil; c, err = ln.Accept() {
				_, _ = io.ReadFull(c, make([]byte, 80)) // its hello, so that the end is no reset
				_ = c.Close()
			}
		}()
		return id, ln
	}
}
