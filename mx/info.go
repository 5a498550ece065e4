package mx

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"gomx/transport"
	"gomx/transport/nic"
)

// InfoKey names a piece of information for GetInfo (III.2.1). The numbers are
// those of MX's headers.
type InfoKey uint32

// The information keys, with what GetInfo's out must point to.
const (
	NICCount           InfoKey = 1  // *uint32
	NICIDs             InfoKey = 2  // []uint64 of NICCount+1, the last 0
	MaxNativeEndpoints InfoKey = 3  // *uint32
	NativeRequests     InfoKey = 4  // *uint32
	CountersCount      InfoKey = 5  // *uint32; in is the board
	CountersLabels     InfoKey = 6  // []string of CountersCount; in is the board
	CountersValues     InfoKey = 7  // []uint32 or []uint64 of CountersCount; in is the board
	ProductCode        InfoKey = 8  // *string; in is the board
	PartNumber         InfoKey = 9  // *string, the name of the interface; in is the board
	SerialNumber       InfoKey = 10 // *uint32, the low half of the NIC id; in is the board
	PortCount          InfoKey = 11 // *uint32; in is the board
	PIOSendMax         InfoKey = 12 // *uint32: bytes that travel in the line of their header
	CopySendMax        InfoKey = 13 // *uint32: largest message sent eagerly, bytes
	NUMANode           InfoKey = 14 // *uint32; in is the board; all ones if unknown
	NetType            InfoKey = 15 // *uint32: 1, Ethernet
	LineSpeed          InfoKey = 16 // *string; in is the board

	// The manual names these two (III.3.1, V.1.1), and MX's headers have no numbers for them.
	MaxEndpointsKey InfoKey = 17 // *uint32: endpoint ids are below it, on every board and over every transport
	MaxSegmentsKey  InfoKey = 18 // *uint32: MaxSegments
)

// GetInfo retrieves information about the library, a board, or with an endpoint
// about that (III.2.1). in is the board number where the key wants one, else 0.
// With an endpoint, the counters are its own. out points to the result; counters
// in a []uint32 are cut to their low 32 bits, as in MX.
//
// Errors: ErrNotInitialized, ErrBadInfoKey, ErrBadInfoVal if out has the wrong
// type, ErrBadInfoLength if a slice is too short, ErrBoardUnknown. Safe from any
// goroutine.
func GetInfo(ep *Endpoint, key InfoKey, in uint32, out any) error {
	err := info(ep, key, in, out)
	switch {
	case err == nil:
		return nil
	case ep != nil:
		return ep.fail("get info", "", err)
	}
	return fail("get info", codeOf(err), "", err)
}

func isCounters(key InfoKey) bool { return key >= CountersCount && key <= CountersValues }

func needsBoard(key InfoKey) bool {
	return key >= CountersCount && key <= PortCount || key == NUMANode || key == LineSpeed
}

func info(ep *Endpoint, key InfoKey, in uint32, out any) error {
	dir := knownDirectory()
	if dir == nil {
		return ErrNotInitialized
	}
	var board nic.Board
	if needsBoard(key) && !(ep != nil && isCounters(key)) {
		var err error
		if board, err = localBoard(dir, in); err != nil {
			return err
		}
	}
	if err := answer(ep, dir, board, key, in, out); err != nil {
		return fmt.Errorf("%w: key %d", err, key)
	}
	return nil
}

func answer(ep *Endpoint, dir *nic.Directory, board nic.Board, key InfoKey, in uint32, out any) error {
	switch key {
	case NICCount:
		return number32(out, uint32(len(dir.Boards())))
	case NICIDs:
		return nicIDs(out, dir)
	case MaxNativeEndpoints:
		return number32(out, MaxEndpoints)
	case NativeRequests:
		return number32(out, math.MaxUint32) // bounded by memory only
	case CountersCount:
		return number32(out, uint32(len(counterTable)))
	case CountersLabels, CountersValues:
		return counterInfo(ep, key, in, out)
	case PIOSendMax:
		return number32(out, pioSendMax)
	case CopySendMax:
		return number32(out, copySendMax())
	case NetType:
		return number32(out, netTypeEthernet)
	case MaxEndpointsKey:
		return number32(out, endpointIDs())
	case MaxSegmentsKey:
		return number32(out, MaxSegments)
	}
	return boardInfo(board, key, out)
}

const (
	pioSendMax      = 24
	netTypeEthernet = 1
)

func boardInfo(b nic.Board, key InfoKey, out any) error {
	switch key {
	case ProductCode:
		return text(out, b.Kind.String()+" "+b.Driver)
	case PartNumber:
		return text(out, b.Interface)
	case SerialNumber:
		return number32(out, uint32(b.ID))
	case PortCount:
		return number32(out, 1)
	case NUMANode:
		return number32(out, uint32(int32(b.NUMANode)))
	case LineSpeed:
		return text(out, b.Speed)
	}
	return ErrBadInfoKey
}

func nicIDs(out any, dir *nic.Directory) error {
	ids, ok := out.([]uint64)
	if !ok {
		return ErrBadInfoVal
	}
	boards := dir.Boards()
	if len(ids) < len(boards)+1 {
		return fmt.Errorf("%w: %d ids and a 0 need %d places", ErrBadInfoLength, len(boards), len(boards)+1)
	}
	for i, b := range boards {
		ids[i] = uint64(b.ID)
	}
	ids[len(boards)] = 0
	return nil
}

func counterInfo(ep *Endpoint, key InfoKey, board uint32, out any) error {
	var all []Counter
	if ep != nil {
		all = ep.Counters()
	} else if list, err := BoardCounters(board); err != nil {
		return err
	} else {
		all = list
	}
	switch list := out.(type) {
	case []string:
		if key == CountersLabels {
			return fill(list, all, func(c Counter) string { return c.Label })
		}
	case []uint32:
		if key == CountersValues {
			return fill(list, all, func(c Counter) uint32 { return uint32(c.Value) })
		}
	case []uint64:
		if key == CountersValues {
			return fill(list, all, func(c Counter) uint64 { return c.Value })
		}
	}
	return ErrBadInfoVal
}

func fill[T any](list []T, all []Counter, f func(Counter) T) error {
	if len(list) < len(all) {
		return fmt.Errorf("%w: %d counters, %d places", ErrBadInfoLength, len(all), len(list))
	}
	for i, c := range all {
		list[i] = f(c)
	}
	return nil
}

func number32(out any, v uint32) error {
	p, ok := out.(*uint32)
	if !ok || p == nil {
		return ErrBadInfoVal
	}
	*p = v
	return nil
}

func text(out any, v string) error {
	p, ok := out.(*string)
	if !ok || p == nil {
		return ErrBadInfoVal
	}
	*p = v[:min(len(v), MaxStrLen-1)]
	return nil
}

// PeerInfo says how an endpoint reaches a peer.
type PeerInfo struct {
	Name       string `json:"name"` // "host:board/endpoint"
	NICID      uint64 `json:"nic_id"`
	EndpointID uint32 `json:"endpoint"`
	Transport  string `json:"transport,omitempty"` // of the present or the last link; "" if there was none
	// Instead says why a transport that is preferred to Transport is not used.
	Instead string `json:"instead,omitempty"`
	// Failure says why there is no link: how the last one ended, or why the last
	// attempt to make one failed.
	Failure string `json:"failure,omitempty"`
	// Eager is the largest message that goes there eagerly, in bytes; 0: there is no link.
	Eager int `json:"eager_bytes,omitempty"`
	// FramesSent and FramesReceived count the frames of the present session that carry messages, puts, gets and what
	// belongs to them. They begin anew at 0 with each session, and after 4,294,967,295.
	FramesSent     uint32 `json:"frames_sent,omitempty"`
	FramesReceived uint32 `json:"frames_received,omitempty"`
}

// Peers returns the peers that the endpoint has connected to, or tried to, and
// those that have connected to it, in the order of the connects. Safe from
// any goroutine, also after Close.
func (ep *Endpoint) Peers() []PeerInfo {
	var all []PeerInfo
	for _, p := range ep.d.Peers() {
		all = append(all, PeerInfo{
			Name:  peerName(ep.dir, p.Address.NIC, p.Address.Endpoint, p.Contexts),
			NICID: p.Address.NIC, EndpointID: p.Address.Endpoint, Transport: p.Medium,
			Instead: words(ep.worthSaying(p.Instead, nic.ID(p.Address.NIC))), Failure: words(p.Failure),
			Eager: max(p.Eager, 0), FramesSent: p.Sent, FramesReceived: p.Received,
		})
	}
	return all
}

// worthSaying leaves out that shared memory does not reach another host. The parts
// of err are what the first of the endpoint's transports said, one each.
func (ep *Endpoint) worthSaying(err error, id nic.ID) error {
	several, ok := err.(interface{ Unwrap() []error })
	if !ok || ep.dir.IsLocal(id) {
		return err
	}
	var rest []error
	for i, err := range several.Unwrap() {
		near := !transportTable[ep.names[i]].far
		if !near || !errors.Is(err, transport.ErrNoPeer) && !errors.Is(err, transport.ErrNoRoute) {
			rest = append(rest, err)
		}
	}
	return errors.Join(rest...)
}

// words puts an error that may have several parts into one line.
func words(err error) string {
	if err == nil {
		return ""
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}

// endpointIDs is how many endpoint ids any endpoint may have: those for which there are ports.
func endpointIDs() uint32 {
	lib.mu.Lock()
	defer lib.mu.Unlock()
	return uint32(lib.env.ports)
}

// copySendMax is the largest message that goes eagerly unless told otherwise.
func copySendMax() uint32 {
	lib.mu.Lock()
	eager := lib.env.eager
	lib.mu.Unlock()
	if eager >= 0 {
		return uint32(eager)
	}
	return advisedEager
}
