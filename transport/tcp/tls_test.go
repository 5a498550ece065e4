//go:build linux

package tcp_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"io"
	"math/big"
	"sync/atomic"
	"testing"
	"time"

	"gomx/transport"
	"gomx/transport/tcp"
	"gomx/transport/wire"
)

// authority vouches for certificates of tests.
type authority struct {
	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func certify(t testing.TB, template, parent *x509.Certificate, key *ecdsa.PrivateKey, by *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newAuthority(t testing.TB) *authority {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	key := newKey(t)
	return &authority{t, certify(t, template, template, key, key), key}
}

func (a *authority) config() *tls.Config {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "host"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	key := newKey(a.t)
	cert := certify(a.t, template, a.cert, key, a.key)
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	return &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{cert.Raw}, PrivateKey: key}},
		RootCAs:      roots,
	}
}

func TestTLSTrust(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	for _, c := range []struct {
		name              string
		near, far         *tls.Config
		nearSays, farSays string
	}{
		{"other authority", ours.config(), theirs.config(), "TLS", "TLS"},
		{"only the dialler", ours.config(), nil, "it has no TLS", "it asks for TLS"},
		{"only the other", nil, ours.config(), "it asks for TLS", "it has no TLS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, b := twoSides(t, tcp.Options{TLS: c.near, ConnectTimeout: time.Second},
				tcp.Options{TLS: c.far, ConnectTimeout: time.Second})
			dialFails(t, a, b.self, transport.ErrRefused, c.nearSays)
			refusal(t, b, c.farSays)
		})
	}
}

// TestTLSOfOneSide looks at the bytes: whoever is turned away because TLS is on at one side alone learns that, and nothing
// else, in the clear.
func TestTLSOfOneSide(t *testing.T) {
	config := newAuthority(t).config()
	for _, c := range []struct {
		name   string
		here   *tls.Config
		first  func(e *end) []byte
		answer byte
		says   string
	}{
		{"a hello", config, func(e *end) []byte { g := proper(stranger, e.self); return g.bytes() }, 8, "it has no TLS"},
		{"TLS", nil, func(*end) []byte { return append([]byte{22, 3, 1, 8, 0}, make([]byte, 2048)...) }, 9, "it asks for TLS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := open(t, loopback(home4, tcp.Options{TLS: c.here, Secret: []byte("word")}), 0)
			conn := call(t, e)
			say(t, conn, c.first(e))
			want := greeting{magic: "gomxtcp", version: tcp.Version, wire: wire.Version, answer: uint16(c.answer)}
			if got := hear(t, conn, greetingSize); !bytes.Equal(got, want.bytes()) {
				t.Errorf("it answers\n%x, want\n%x", got, want.bytes())
			}
			hungUp(t, conn)
			_ = conn.Close()
			refusal(t, e, c.says)
		})
	}
}

// TestDialsOnceWithoutTLS has a peer refuse for want of TLS. There is no use in coming again.
func TestDialsOnceWithoutTLS(t *testing.T) {
	config := newAuthority(t).config()
	for name, c := range map[string]struct {
		here   *tls.Config
		answer uint16
	}{"it asks for TLS": {nil, 8}, "it has no TLS": {config, 9}} {
		a, peer, conns := dialsUs(t, tcp.Options{TLS: c.here})
		var calls atomic.Int32
		go func() {
			for conn := range conns {
				calls.Add(1)
				_, _ = io.ReadFull(conn, make([]byte, greetingSize))
				answer := greeting{magic: "gomxtcp", version: tcp.Version, wire: wire.Version, answer: c.answer}
				_, _ = conn.Write(answer.bytes())
			}
		}()
		dialFails(t, a, peer, transport.ErrRefused, name)
		if n := calls.Load(); n != 1 {
			t.Errorf("%s: it has come %d times", name, n)
		}
	}
}

func TestTLSNeedsCertificates(t *testing.T) {
	good := newAuthority(t).config()
	for name, c := range map[string]*tls.Config{
		"no certificate": {RootCAs: good.RootCAs},
		"no authority":   {Certificates: good.Certificates},
	} {
		tr := loopback(home4, tcp.Options{TLS: c})
		if _, err := tr.Open(transport.Open{}); err == nil {
			t.Errorf("%s: the port opened", name)
		}
	}
}

func TestTLSWithSecret(t *testing.T) {
	config := newAuthority(t).config()
	near, far := joined(t, tcp.Options{TLS: config, Secret: []byte("word")})
	exchange(t, near, far)
	if diagnostic(t, near, "TLS") != "on" || diagnostic(t, near, "secret") != "on" {
		t.Errorf("described as %v", near.port.Diagnostics())
	}
	if near.link.Caps().Retains {
		t.Error("payload is encrypted, and yet retained")
	}
}

// TestTLSFrameTooLong sends frames beyond the largest one over TLS. A PullData frame may be no larger than others there.
func TestTLSFrameTooLong(t *testing.T) {
	config := newAuthority(t).config()
	for _, kind := range []wire.Kind{wire.Eager, wire.PullData} {
		for length, malformed := range map[uint32]bool{tcp.MaxFrame: false, tcp.MaxFrame + 1: true, tcp.MaxPullFrame: true} {
			t.Run(fmt.Sprint(kind, " of ", length), func(t *testing.T) {
				e := open(t, loopback(home4, tcp.Options{TLS: config}), 0)
				client := config.Clone()
				client.InsecureSkipVerify = true // its name is none of the certificate's
				c := tls.Client(call(t, e), client)
				introduce(t, e, c)
				frames := 0
				e.take = func(int32, *wire.Header, []byte) bool { frames++; return true }
				h := wire.Header{Kind: kind, Length: length}
				go func() { _, _ = c.Write(append(h.Append(nil), make([]byte, length)...)) }()
				await(t, "a frame, or the end", func() bool { return frames > 0 || e.down() != nil }, e)
				if errors.Is(e.down(), transport.ErrCorrupt) != malformed || (frames == 0) != malformed {
					t.Errorf("%d frames, %v; malformed: %v", frames, e.down(), malformed)
				}
				if n := e.count(transport.CorruptFrames); (n == 1) != malformed {
					t.Errorf("%d corrupt frames counted; malformed: %v", n, malformed)
				}
				e.link.Close()
			})
		}
	}
}
