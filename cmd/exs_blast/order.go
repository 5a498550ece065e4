package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"gomx/exs"
)

// What can be measured.
const (
	modeNormal     = "normal"
	modeSmall      = "small"
	modeInPlace    = "inplace"
	modePersistent = "persistent"
	modeConn       = "conn"
	modeTCP        = "tcp"

	typePacket = "packet"
	typeStream = "stream"
)

var (
	modes = []string{modeNormal, modeSmall, modeInPlace, modePersistent, modeConn, modeTCP}
	types = []string{typePacket, typeStream}
)

// Bounds of an order.
const (
	mostInFlight = 256     // operations
	mostBytes    = 1 << 30 // of one side's buffers
)

// order says what both sides are to measure. The client sends it as a line of JSON
// over a TCP connection of its own, the server answers with a reply that has the
// port to connect to, and then there are runs.
type order struct {
	Mode       string
	Type       string
	Length     int // bytes
	InFlight   int // operations
	Latency    bool
	Transports []string      // that the endpoints may use; none: any
	Spin       time.Duration // of a waiting call before it sleeps; -1: as the library likes
}

// run is a number of messages. With 0 the connection ends.
type run struct {
	Count int
	Check bool // the contents
}

// reply is what the server says: that it is ready, and how a run went.
type reply struct {
	Port      uint16        `json:",omitempty"`
	CPU       time.Duration `json:",omitempty"` // of the server, for this run
	Complaint string        `json:",omitempty"`
	Corrupt   bool          `json:",omitempty"`
}

// check refuses an order that makes no sense.
func (o *order) check() error {
	switch {
	case !slices.Contains(modes, o.Mode):
		return fmt.Errorf("there is no mode %q, but %s", o.Mode, strings.Join(modes, ", "))
	case !slices.Contains(types, o.Type):
		return fmt.Errorf("there is no type %q, but %s", o.Type, strings.Join(types, ", "))
	case o.Mode != modeNormal && (o.Type == typeStream) != o.blocks():
		return fmt.Errorf("mode %s does not go with type %s", o.Mode, o.Type)
	case o.InFlight < 1 || o.InFlight > mostInFlight:
		return fmt.Errorf("%d operations in flight: want 1 to %d", o.InFlight, mostInFlight)
	case o.Length < 1 || o.Length > mostBytes/max(2, o.InFlight):
		return fmt.Errorf("%d bytes with %d in flight: want at least 1, and 1 GiB of buffers at most", o.Length, o.InFlight)
	case o.small() && o.Length > exs.MaxSmallPacket:
		return fmt.Errorf("%d bytes: small packets have %d at most", o.Length, exs.MaxSmallPacket)
	}
	return nil
}

// small reports whether small packets are sent.
func (o *order) small() bool { return o.Mode == modeSmall || o.Mode == modeInPlace }

// blocks says that the calls of a mode block, so that one operation is in flight.
func (o *order) blocks() bool { return o.Mode == modeConn || o.Mode == modeTCP }

// listener waits for the connection to measure.
type listener interface {
	addr() (netip.AddrPort, error)
	accept() (course, error)
	stop() // ends accept, and with EXS the connection that it made
}

func (o *order) listen(at netip.Addr) (listener, error) {
	switch o.Mode {
	case modeConn:
		return listenConn(*o, at)
	case modeTCP:
		return listenTCP(*o, at)
	}
	return listenEXS(*o, at)
}

func (o *order) dial(to netip.AddrPort) (course, error) {
	switch o.Mode {
	case modeConn:
		return dialConn(*o, to)
	case modeTCP:
		return dialTCP(*o, to)
	}
	return dialEXS(*o, to)
}

// longestLine bounds what a stranger can make the server keep.
const longestLine = 64 << 10

// wire carries orders, runs and replies.
type wire struct {
	net.Conn
	in *bufio.Reader
}

func newWire(conn net.Conn) *wire {
	return &wire{conn, bufio.NewReaderSize(conn, longestLine)}
}

func (w *wire) send(v any) error { return json.NewEncoder(w.Conn).Encode(v) }

func (w *wire) hear(v any) error {
	line, err := w.in.ReadSlice('\n')
	switch {
	case errors.Is(err, io.EOF) && len(line) > 0:
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	}
	return json.Unmarshal(line, v)
}

// answer hears a reply.
func (w *wire) answer() (r reply, err error) {
	switch err = w.hear(&r); {
	case err != nil:
		return r, fmt.Errorf("the other side is gone: %w", err)
	case r.Corrupt:
		return r, fmt.Errorf("the other side: %w: %s", errCorrupt, r.Complaint)
	case r.Complaint != "":
		return r, fmt.Errorf("the other side: %s", r.Complaint)
	}
	return r, nil
}
