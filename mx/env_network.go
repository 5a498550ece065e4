package mx

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"gomx/transport/nic"
)

// network is what the variables say about other hosts.
type network struct {
	portBase       int // port of endpoint 0
	ports          int // endpoints that have a port
	baseSet        bool
	boards         nic.Filter
	secret         []byte
	secretFile     string
	tls            *tls.Config
	tlsFiles       string
	keepAlive      time.Duration
	connectTimeout time.Duration
}

func defaultNetwork() network {
	return network{
		portBase: defaultPortBase, ports: MaxEndpoints,
		keepAlive: defaultKeepAlive, connectTimeout: defaultConnectTimeout,
	}
}

// Bounds of the variables.
const (
	lastPort         = 1<<16 - 1
	longestSecret    = 64 << 10 // bytes of a file
	longestKeepAlive = time.Hour
)

const unset = "none"

// lastOfPorts returns the port of the last endpoint that has one.
func (n *network) lastOfPorts() int { return n.portBase + n.ports - 1 }

var networkVariables = []variable{
	{name: "MX_NET", help: "networks and interfaces to use, in order: 10.0.0.0/8,eth0,ib*,!docker0; all: all of them",
		show: func(e *environment) string { return e.boards.String() },
		set: func(e *environment, s string) (err error) {
			e.boards, err = nic.ParseFilter(s)
			return err
		}},
	{name: "MX_PORT_BASE", help: "TCP port of endpoint 0; endpoint n has the n-th after it",
		show: func(e *environment) string { return strconv.Itoa(e.portBase) },
		set:  func(e *environment, s string) error { return e.setPortBase(s) }},
	{name: "MX_PORT_RANGE", help: "TCP ports, first-last: MX_PORT_BASE, and how many endpoint ids there are",
		show: func(e *environment) string { return fmt.Sprintf("%d-%d", e.portBase, e.lastOfPorts()) },
		set:  func(e *environment, s string) error { return e.setPortRange(s) }},
	{name: "MX_SECRET", help: "secret that all peers on other hosts must know; its value is never shown", secret: true,
		show: func(e *environment) string { return setOrUnset(len(e.secret) > 0) },
		set: func(e *environment, s string) error {
			e.secret = []byte(s)
			return nil
		}},
	{name: "MX_SECRET_FILE", help: "file with the secret, in place of MX_SECRET; a line break at its end does not count",
		show: func(e *environment) string { return orUnset(e.secretFile) },
		set:  func(e *environment, s string) error { return e.readSecret(s) }},
	{name: "MX_TLS", help: "TLS 1.3 with other hosts: cert=FILE,key=FILE,ca=FILE, all PEM; peers need a certificate of that ca",
		show: func(e *environment) string { return orUnset(e.tlsFiles) },
		set:  func(e *environment, s string) error { return e.readTLS(s) }},
	{name: "MX_KEEPALIVE", help: "time after which a host that has vanished is noticed, from 3s to 1h",
		show: func(e *environment) string { return e.keepAlive.String() },
		set:  func(e *environment, s string) error { return setDuration(&e.keepAlive, s, checkKeepAlive) }},
	{name: "MX_CONNECT_TIMEOUT", help: "time that one address of a peer has to answer one attempt to connect; above 0",
		show: func(e *environment) string { return e.connectTimeout.String() },
		set:  func(e *environment, s string) error { return setDuration(&e.connectTimeout, s, checkConnectTimeout) }},
}

func setOrUnset(is bool) string {
	if is {
		return "set"
	}
	return unset
}

func orUnset(s string) string {
	if s == "" {
		return unset
	}
	return s
}

func parsePort(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 16)
	return int(n), err == nil && n > 0
}

func (n *network) setPortBase(s string) error {
	base, ok := parsePort(s)
	if !ok {
		return fmt.Errorf("want a port from 1 to %d", lastPort)
	}
	n.portBase, n.ports, n.baseSet = base, min(MaxEndpoints, lastPort-base+1), true
	return nil
}

func (n *network) setPortRange(s string) error {
	from, to, _ := strings.Cut(s, "-")
	first, good := parsePort(from)
	last, ok := parsePort(to)
	switch {
	case !good || !ok || last < first:
		return fmt.Errorf("want two ports from 1 to %d such as 20000-20099, the lower one first", lastPort)
	case n.baseSet && first != n.portBase:
		return fmt.Errorf("MX_PORT_BASE says %d: set one of them, or both alike", n.portBase)
	}
	n.portBase, n.ports = first, min(MaxEndpoints, last-first+1)
	return nil
}

func (n *network) readSecret(name string) error {
	if len(n.secret) > 0 {
		return errors.New("MX_SECRET is set, too: unset one of them")
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, longestSecret+1))
	if err != nil {
		return err
	}
	secret := strings.TrimRight(string(text), "\r\n")
	switch {
	case secret == "":
		return errors.New("the file is empty")
	case len(text) > longestSecret:
		return fmt.Errorf("the file is longer than %d bytes", longestSecret)
	}
	n.secret, n.secretFile = []byte(secret), name
	return nil
}

// readTLS makes the configuration of both sides: who dials and who accepts shows
// a certificate, and wants one that the authority has signed.
func (n *network) readTLS(s string) error {
	files := map[string]string{}
	for entry := range strings.SplitSeq(s, ",") {
		what, name, _ := strings.Cut(entry, "=")
		if _, twice := files[what]; twice || name == "" || what != "cert" && what != "key" && what != "ca" {
			return fmt.Errorf("want cert=FILE,key=FILE,ca=FILE, and not %q", entry)
		}
		files[what] = name
	}
	if len(files) != 3 {
		return errors.New("want all of cert=FILE,key=FILE,ca=FILE")
	}
	cert, err := tls.LoadX509KeyPair(files["cert"], files["key"])
	if err != nil {
		return fmt.Errorf("%s, %s: %w", files["cert"], files["key"], err)
	}
	authority, err := os.ReadFile(files["ca"])
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(authority) {
		return fmt.Errorf("%s has no certificate in PEM form", files["ca"])
	}
	n.tls = &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{cert},
		RootCAs: pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	}
	n.tlsFiles = s
	return nil
}
