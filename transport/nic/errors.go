package nic

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

var (
	// ErrHostNotFound means that a name or a NIC id leads to no host. Errors of
	// this kind carry the name and wrap the reason.
	ErrHostNotFound = errors.New("host not found")

	// ErrBoardUnknown means that a host has no board of that number, or that no
	// local board has that NIC id.
	ErrBoardUnknown = errors.New("board unknown")
)

var (
	errNameEmpty     = errors.New("the name is empty")
	errNameTooLong   = fmt.Errorf("the name is longer than %d bytes", MaxNameLen)
	errNameMalformed = errors.New("neither a host, host:board, an address nor a NIC id")
	errLoopback      = errors.New("the name stands for a loopback address")
	errNoAddress     = errors.New("no address that can be reached from another host")
	errNoLookup      = errors.New("no look-up of names available")
	errNotAHost      = errors.New("not the address of one host")
	errNumeric       = errors.New("a number is neither a host nor an address")
	errIDTaken       = errors.New("its NIC id is already in use for another address")
)

// hostsFile is where names are given addresses without a name server.
const hostsFile = "/etc/hosts"

// withRemedy says what to do about a name that the resolver does not know.
func withRemedy(err error) error {
	var dns *net.DNSError
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &dns) && !dns.IsNotFound:
		return &unknownName{fmt.Sprintf("%s; check the name server, or use the host's address", asked(dns)), err}
	case dns != nil:
		return &unknownName{fmt.Sprintf("%s; check the spelling, add the name to %s, or use the host's address", dns.Err, hostsFile), err}
	default:
		return fmt.Errorf("%w; check the spelling, add the name to %s, or use the host's address", err, hostsFile)
	}
}

// asked says what a name server has answered, and which one it is, if that is known.
func asked(dns *net.DNSError) string {
	if dns.Server == "" {
		return dns.Err
	}
	text := dns.Err
	if _, after, ok := strings.Cut(text, dns.Server+": "); ok { // of package net, which has kept only the text of an error of a dial
		text = strings.TrimPrefix(after, "connect: ")
	}
	return "name server " + dns.Server + ": " + text
}

// unknownName is an error of the resolver whose text does not repeat the name.
type unknownName struct {
	text string
	err  error
}

func (u *unknownName) Error() string { return u.text }

// Unwrap returns the error of the resolver.
func (u *unknownName) Unwrap() error { return u.err }

// leadsBack is about a name of another host that resolves to our own loopback.
func (d *Directory) leadsBack(addr netip.Addr, host string) error {
	return fmt.Errorf("%w: %s leads back to this host, %s; correct %s in %s, or say %s if this host is meant",
		errLoopback, addr, d.hostname, host, hostsFile, localhost)
}

func hostNotFound(name string, reason error) error {
	const shown = MaxNameLen
	if len(name) > shown {
		name = name[:shown] + "..."
	}
	return &NotFoundError{name, reason}
}

// NotFoundError is an ErrHostNotFound of Resolve. The host of an ErrBoardUnknown is found, and lacks the board.
type NotFoundError struct {
	Name   string // as it was asked for; shortened if it is too long for a name
	Reason error
}

// Error names what was asked for, and the reason.
func (n *NotFoundError) Error() string {
	if errors.Is(n.Reason, ErrBoardUnknown) {
		return fmt.Sprintf("%q: %v", n.Name, n.Reason)
	}
	return fmt.Sprintf("%v: %q: %v", ErrHostNotFound, n.Name, n.Reason)
}

// Unwrap returns ErrHostNotFound and the reason.
func (n *NotFoundError) Unwrap() []error { return []error{ErrHostNotFound, n.Reason} }

// missingBoard is about a host that is known, and has no board of the number that stands behind its name.
type missingBoard struct {
	number uint64
	has    int // boards
}

func (m *missingBoard) Error() string {
	has := "board 0 alone"
	if m.has > 1 {
		has = fmt.Sprintf("boards 0 to %d", m.has-1)
	}
	return fmt.Sprintf("there is no board %d, the host has %s: the number after the colon is that of a board, not of a port", m.number, has)
}

// Unwrap returns ErrBoardUnknown.
func (m *missingBoard) Unwrap() error { return ErrBoardUnknown }
