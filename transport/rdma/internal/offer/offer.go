// Package offer is what two sides tell each other before their queue pairs can be
// connected, and what they agree on. It does no input or output.
package offer

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Size is the size of the byte form, bytes.
const Size = 44

const (
	magic   = 0x6d72 // "rm"
	version = 1
)

// Errors. They come wrapped with the reason.
var (
	// ErrMalformed: the bytes are no offer, or it makes no sense.
	ErrMalformed = errors.New("malformed offer")
	// ErrUnfit: the two ports can't be connected.
	ErrUnfit = errors.New("the RDMA ports don't fit")
)

// Way is how packets travel. The numbers are those of the byte form.
type Way uint8

// The ways.
const (
	InfiniBand Way = 1
	RoCEv1     Way = 2
	RoCEv2     Way = 3
	wayEnd     Way = 4
)

// String returns "RoCE v2" and so on.
func (w Way) String() string {
	switch w {
	case InfiniBand:
		return "InfiniBand"
	case RoCEv1:
		return "RoCE v1"
	case RoCEv2:
		return "RoCE v2"
	}
	return fmt.Sprintf("way %d", uint8(w))
}

// Limits of what an offer may say.
const (
	MaxReads = 128
	MaxSlot  = 1 << 20
	maxMTU   = 5
	number24 = 1<<24 - 1
)

// Offer describes one side.
//
//	0       2         3     4     5          6           7   8     12    16   18  20     24       40        44
//	+-------+---------+-----+-----+----------+-----------+---+-----+------+-----+---+------+-------+---------+
//	| magic | version | way | mtu | reads in | reads out | 0 | qp  | psn  | lid | 0 | slot |  gid  | credits |
//	+-------+---------+-----+-----+----------+-----------+---+-----+------+-----+---+------+-------+---------+
//
// The first three bytes stay what they are in every version.
type Offer struct {
	Way      Way
	MTU      uint8 // of the port, as the verbs count it: 1 is 256 bytes, 5 is 4096
	ReadsIn  uint8 // how many reads it answers at once
	ReadsOut uint8 // how many it would like to have under way
	QP       uint32
	Packet   uint32 // number of the first packet it sends
	LID      uint16
	Slot     uint32 // bytes of one receive
	GID      [16]byte
	Credits  uint32 // receives that are there for the other side
}

// Append appends the byte form.
func (o *Offer) Append(b []byte) []byte {
	le := binary.LittleEndian
	b = le.AppendUint16(b, magic)
	b = append(b, version, byte(o.Way), o.MTU, o.ReadsIn, o.ReadsOut, 0)
	b = le.AppendUint32(b, o.QP)
	b = le.AppendUint32(b, o.Packet)
	b = le.AppendUint16(b, o.LID)
	b = le.AppendUint16(b, 0)
	b = le.AppendUint32(b, o.Slot)
	b = append(b, o.GID[:]...)
	return le.AppendUint32(b, o.Credits)
}

// Parse decodes an offer and checks that it makes sense.
func Parse(b []byte) (Offer, error) {
	le := binary.LittleEndian
	if len(b) != Size || le.Uint16(b) != magic {
		return Offer{}, fmt.Errorf("%w: %d bytes", ErrMalformed, len(b))
	}
	if b[2] != version {
		return Offer{}, fmt.Errorf("%w: it speaks version %d, this is %d", ErrUnfit, b[2], version)
	}
	o := Offer{
		Way: Way(b[3]), MTU: b[4], ReadsIn: b[5], ReadsOut: b[6],
		QP: le.Uint32(b[8:]), Packet: le.Uint32(b[12:]), LID: le.Uint16(b[16:]),
		Slot: le.Uint32(b[20:]), GID: [16]byte(b[24:40]), Credits: le.Uint32(b[40:]),
	}
	if !o.sensible() || b[7] != 0 || le.Uint16(b[18:]) != 0 {
		return Offer{}, fmt.Errorf("%w: %+v", ErrMalformed, o)
	}
	return o, nil
}

func (o *Offer) sensible() bool {
	return o.Way > 0 && o.Way < wayEnd && o.MTU >= 1 && o.MTU <= maxMTU &&
		o.ReadsIn <= MaxReads && o.ReadsOut <= MaxReads &&
		o.QP > 0 && o.QP <= number24 && o.Packet <= number24 &&
		o.Slot > 0 && o.Slot <= MaxSlot && o.Credits > 0 &&
		(o.Way == InfiniBand || o.GID != [16]byte{})
}

// Terms are what two sides agree on, seen from one of them.
type Terms struct {
	MTU      uint8
	ReadsIn  int // that the other side may have under way here
	ReadsOut int // that this side may have under way there
}

// Agree returns the terms for the side that has made mine. Both sides come to the
// same.
func Agree(mine, theirs *Offer) (Terms, error) {
	if mine.Way != theirs.Way {
		return Terms{}, fmt.Errorf("%w: this one speaks %v, the peer's %v", ErrUnfit, mine.Way, theirs.Way)
	}
	return Terms{
		MTU:      min(mine.MTU, theirs.MTU),
		ReadsIn:  int(min(mine.ReadsIn, theirs.ReadsOut)),
		ReadsOut: int(min(mine.ReadsOut, theirs.ReadsIn)),
	}, nil
}
