package mx_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gomx/mx"
)

// authority signs certificates, and keeps its own in a file.
type authority struct {
	t    *testing.T
	dir  string
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	file string
}

func newAuthority(t *testing.T, name string) *authority {
	t.Helper()
	a := &authority{t: t, dir: t.TempDir()}
	a.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, key := a.sign(a.cert, a.cert, nil)
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a.cert, a.key, a.file = cert, key, a.write(name+".ca", "CERTIFICATE", der)
	return a
}

func (a *authority) sign(cert, parent *x509.Certificate, with *ecdsa.PrivateKey) ([]byte, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	if with == nil {
		with = key
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, &key.PublicKey, with)
	if err != nil {
		a.t.Fatal(err)
	}
	return der, key
}

func (a *authority) write(name, kind string, der []byte) string {
	a.t.Helper()
	file := filepath.Join(a.dir, name)
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return file
}

// variable returns a value of MX_TLS with a certificate that the authority signs.
func (a *authority) variable() string {
	a.t.Helper()
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "node"}, NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	der, key := a.sign(cert, a.cert, a.key)
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}
	return fmt.Sprintf("cert=%s,key=%s,ca=%s", a.write("cert", "CERTIFICATE", der), a.write("key", "PRIVATE KEY", secret), a.file)
}

func TestTLSOfTheEnvironment(t *testing.T) {
	good := newAuthority(t, "good").variable()
	t.Setenv("MX_TLS", good)
	if v := valueOf(t, "MX_TLS"); v.Value != good {
		t.Errorf("%+v", v)
	}
	w := newWorld(t, "tcp")
	a, b, toB, _ := w.pair()
	for _, n := range sizes {
		got, want := make([]byte, n), pattern(n, 1)
		recv := w.irecv(b, got, 1, exact)
		send := w.isend(a, want, toB, 1)
		w.succeed(b, recv)
		w.succeed(a, send)
		if !bytes.Equal(got, want) {
			t.Errorf("%d bytes arrived changed", n)
		}
	}
	nic, id := place(t, b)
	plain := w.open(mx.WithTLS(nil), mx.WithConnectTimeout(time.Second))
	_, err := plain.Connect(nic, id, testFilter, bound)
	refused(t, err, mx.ErrConnectionFailed, plain.String(), b.String(), "it asks for TLS")
	nic, id = place(t, plain)
	_, err = a.Connect(nic, id, testFilter, bound)
	refused(t, err, mx.ErrConnectionFailed, plain.String(), a.String(), "it has no TLS")
}

func TestCertificateOfAnotherAuthorityIsRefused(t *testing.T) {
	t.Setenv("MX_TLS", newAuthority(t, "good").variable())
	w := newWorld(t, "tcp")
	server, friend := w.open(), w.open()
	w.connect(friend, server)
	stranger := w.open(mx.WithTLS(newAuthority(t, "other").config()))
	nic, id := place(t, server)
	_, err := stranger.Connect(nic, id, testFilter, bound)
	refused(t, err, mx.ErrConnectionFailed, stranger.String(), server.String(), "certificate")
}

// TestOwnCertificateIsRefused: who trusts the peer, and is not trusted by it, is told so.
func TestOwnCertificateIsRefused(t *testing.T) {
	good := newAuthority(t, "good")
	t.Setenv("MX_TLS", good.variable())
	w := newWorld(t, "tcp")
	server := w.open()
	half := newAuthority(t, "other").config()
	half.RootCAs = good.config().RootCAs
	stranger := w.open(mx.WithTLS(half))
	nic, id := place(t, server)
	_, err := stranger.Connect(nic, id, testFilter, bound)
	refused(t, err, mx.ErrConnectionFailed, stranger.String(), server.String(), "does not accept this side's certificate")
	if !errors.Is(err, mx.ErrRefused) {
		t.Errorf("%v is no ErrRefused", err)
	}
}

// config is what MX_TLS would make of the files.
func (a *authority) config() *tls.Config {
	a.t.Helper()
	a.variable()
	cert, err := tls.LoadX509KeyPair(filepath.Join(a.dir, "cert"), filepath.Join(a.dir, "key"))
	if err != nil {
		a.t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return &tls.Config{Certificates: []tls.Certificate{cert}, RootCAs: pool}
}

// RDMA does not encrypt, so whoever wants TLS must ask for it.
func TestTLSKeepsEndpointsFromRDMA(t *testing.T) {
	t.Setenv("MX_RDMA_DEVICE", "rxe0") // whether or not it is there
	newWorld(t, "tcp")
	ep, err := mx.OpenEndpoint(0, mx.AnyEndpoint, testFilter, mx.WithTLS(newAuthority(t, "good").config()))
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, ep)
	if names := fmt.Sprint(ep.TransportNames()); strings.Contains(names, "rdma") || !strings.Contains(diagnostic(ep, "no RDMA because"), "TLS") {
		t.Errorf("transports %s, %v", names, ep.Diagnostics())
	}
}
