package pingpong

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gomx/mx"
)

// Defaults of MX's mx_pingpong.
const (
	DefaultFilter           = 0x12345
	DefaultReceiverEndpoint = 1
)

// Auto is the transport that is used by itself.
const Auto = "auto"

// LibrarySpin leaves it to the library how long a waiting call spins.
const LibrarySpin = time.Duration(-1)

// unexpectedBytes is the bound of unexpected messages, in bytes: MaxParked of them
// must fit, or their sender would wait for ever.
const unexpectedBytes = 1 << 30

// Setup is where to measure: the endpoint of this side, and the other side.
type Setup struct {
	Transport string        // a name of mx.Transports, or several with commas, the preferred one first, or Auto
	Board     uint32        // mx.AnyNIC: any
	NIC       uint64        // if not 0, the board with this NIC id
	Endpoint  uint32        // of this side; mx.AnyEndpoint: any
	Filter    uint32        // of both sides
	Single    bool          // each endpoint is used by one goroutine: no locks
	Spin      time.Duration // how long a waiting call spins before it sleeps, or LibrarySpin

	Serve          bool   // be the receiver
	Host           string // of a receiver that was started before; "": none was
	RemoteEndpoint uint32 // of the other side
	Patience       time.Duration

	Tool  string // that a receiver is started with; "": mx_pingpong
	Cores []int  // one for each side, leader first; none: wherever the system puts them
}

// Resolve replaces Auto by the transport that will be used, and checks that it
// can be. The error names what can be used instead. With a receiver that is
// started by itself the library chooses, when it knows where that is.
func (s *Setup) Resolve() error {
	all := mx.Transports()
	if s.Transport == Auto && (s.Serve || s.Host != "") {
		return nil
	}
	if s.Transport == Auto {
		s.Transport = "mem"
		if slices.ContainsFunc(all, func(t mx.TransportInfo) bool { return t.Name == "shm" && t.Available }) {
			s.Transport = "shm"
		}
	}
	var usable []string
	for _, t := range all {
		if t.Available {
			usable = append(usable, t.Name)
		}
	}
	instead := "; what can be used here: " + strings.Join(usable, ", ")
	for _, name := range s.transports() {
		i := slices.IndexFunc(all, func(t mx.TransportInfo) bool { return t.Name == name })
		switch {
		case i < 0:
			return fmt.Errorf("this build has no transport %q%s", name, instead)
		case !all[i].Available:
			return fmt.Errorf("transport %s can't be used: %s%s", name, all[i].Reason, instead)
		}
	}
	if s.Inside() && s.Host != "" {
		return fmt.Errorf("transport %s stays within this process and reaches no other host: leave the host out, or take another transport", s.Transport)
	}
	return nil
}

func (s *Setup) tool() string { return cmp.Or(s.Tool, "mx_pingpong") }

// Inside says that the transport joins endpoints of one process only.
func (s *Setup) Inside() bool { return s.Transport == "mem" || s.Transport == "self" }

// transports are the names in Transport.
func (s *Setup) transports() []string { return strings.Split(s.Transport, ",") }

// LeavesOpen says that it is left to the library which transport is used.
func (s *Setup) LeavesOpen() bool { return s.Transport == Auto || len(s.transports()) > 1 }

// initialize calls mx.Init; done undoes it.
func initialize() (done func() error, err error) {
	switch err := mx.Init(); {
	case errors.Is(err, mx.ErrAlreadyInitialized):
		return func() error { return nil }, nil
	case err != nil:
		return nil, err
	}
	return mx.Finalize, nil
}

// open opens this side's endpoint.
func (s *Setup) open() (*mx.Endpoint, error) {
	board := s.Board
	if s.NIC != 0 {
		number, err := mx.NICIDToBoardNumber(s.NIC)
		if err != nil {
			return nil, err
		}
		board = number
	}
	params := []mx.Param{mx.WithUnexpQueueMax(unexpectedBytes)}
	if s.Transport != Auto {
		params = append(params, mx.WithTransports(s.transports()...))
	}
	if s.Spin != LibrarySpin {
		params = append(params, mx.WithSpin(s.Spin))
	}
	if s.Single {
		params = append(params, mx.SingleThreaded())
	}
	return mx.OpenEndpoint(board, s.Endpoint, s.Filter, params...)
}
