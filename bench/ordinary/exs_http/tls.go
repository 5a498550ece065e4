package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"time"

	"gomx/bench/internal/figure"
)

// host is what URLs say; the connections go where the dialer says.
const host = "ordinary.test"

// certificate is one that both sides make for themselves: its key is no secret, and equal keys sign equally.
func certificate() (der []byte, key ed25519.PrivateKey) {
	key = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{host},
		NotBefore: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	figure.Fail(err)
	return der, key
}

func serverTLS() *tls.Config {
	der, key := certificate()
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
}

func clientTLS() *tls.Config {
	der, _ := certificate()
	known, err := x509.ParseCertificate(der)
	figure.Fail(err)
	roots := x509.NewCertPool()
	roots.AddCert(known)
	return &tls.Config{RootCAs: roots}
}
