package pingpong

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"

	"gomx/mx"
)

// What leader and follower say to each other: the parameters once, then orders,
// each of which is answered when the follower is ready, and where something
// follows from it again when that is done. Numbers are big-endian.

const (
	controlMax = 512

	paramsMagic   = 0x676d7870 // "gmxp"
	paramsVersion = 1
	paramsSize    = 4 + 4 + 4 + 4*4

	orderSize  = 1 + 8 + 8
	answerSize = 8 // then text
)

const (
	flagSync = 1 << iota
	flagAlloc
	flagVerify
	flagStream
	flagBoth
	flagsKnown = flagSync | flagAlloc | flagVerify | flagStream | flagBoth
)

// kind of an order.
type kind uint8

const (
	orderPark   kind = iota + 1 // post the receives that match nothing
	orderRun                    // count exchanges of that length
	orderClear                  // empty the queues
	orderFinish                 // the session is over
	orderWindow                 // say where the window for one-sided operations is
)

// order is what the leader wants done.
type order struct {
	kind          kind
	length, count int
}

func (o order) append(b []byte) []byte {
	b = append(b, byte(o.kind))
	b = binary.BigEndian.AppendUint64(b, uint64(o.length))
	return binary.BigEndian.AppendUint64(b, uint64(o.count))
}

var errOrder = errors.New("the leader says something that this version does not understand")

func parseOrder(b []byte, longest int) (order, error) {
	if len(b) != orderSize {
		return order{}, errOrder
	}
	length, count := binary.BigEndian.Uint64(b[1:]), binary.BigEndian.Uint64(b[9:])
	o := order{kind(b[0]), int(length), int(count)}
	if o.kind < orderPark || o.kind > orderWindow || length > uint64(longest) || count > MaxCount {
		return order{}, errOrder
	}
	return o, nil
}

// appendParams appends what the follower must know of a plan.
func appendParams(b []byte, p *Plan) []byte {
	var flags uint32
	for flag, on := range map[uint32]bool{flagSync: p.Sync, flagAlloc: p.Alloc, flagVerify: p.Verify, flagStream: p.Stream, flagBoth: p.Both} {
		if on {
			flags |= flag
		}
	}
	for _, v := range []uint32{
		paramsMagic, paramsVersion, flags, uint32(p.longest()), uint32(p.Window), uint32(p.Posted), uint32(p.Unexpected),
	} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return b
}

// parseParams returns the follower's view of the plan: the longest length is the
// only one in it.
func parseParams(b []byte) (Plan, error) {
	if len(b) < 8 || binary.BigEndian.Uint32(b) != paramsMagic {
		return Plan{}, errors.New("it is no gomx ping-pong")
	}
	if v := binary.BigEndian.Uint32(b[4:]); v != paramsVersion || len(b) != paramsSize {
		return Plan{}, fmt.Errorf("it speaks version %d of the ping-pong, this side %d: use the same mx_pingpong on both", v, paramsVersion)
	}
	at := func(i int) int { return int(binary.BigEndian.Uint32(b[4*i:])) }
	flags := at(2)
	if flags&^flagsKnown != 0 {
		return Plan{}, fmt.Errorf("it asks for something unknown (flags %#x)", flags)
	}
	p := Plan{
		Lengths: []int{at(3)}, Window: at(4), Posted: at(5), Unexpected: at(6),
		Sync: flags&flagSync != 0, Alloc: flags&flagAlloc != 0, Verify: flags&flagVerify != 0,
		Stream: flags&flagStream != 0, Both: flags&flagBoth != 0,
	}
	return p, p.Check()
}

// answer is what the follower says: that all is well, or what is not.
type answer struct {
	value   float64 // microseconds for an unexpected message
	failure string
	corrupt bool
}

func (a answer) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, math.Float64bits(a.value))
	mark := byte(0)
	if a.corrupt {
		mark = 1
	}
	b = append(b, mark)
	return append(b, a.failure[:min(len(a.failure), controlMax-answerSize-1)]...)
}

func parseAnswer(b []byte) (answer, error) {
	if len(b) < answerSize+1 {
		return answer{}, errors.New("the receiver says something that this version does not understand")
	}
	return answer{
		value:   math.Float64frombits(binary.BigEndian.Uint64(b)),
		corrupt: b[answerSize] != 0,
		failure: strings.ToValidUTF8(string(b[answerSize+1:]), "?"),
	}, nil
}

// err returns what is not well.
func (a answer) err() error {
	switch {
	case a.corrupt:
		return fmt.Errorf("at the receiver: %w", corruption{a.failure})
	case a.failure != "":
		return fmt.Errorf("the receiver: %s", a.failure)
	}
	return nil
}

// corruption is an ErrCorrupt that another process found.
type corruption struct{ text string }

func (c corruption) Error() string { return c.text }

func (c corruption) Is(target error) bool { return target == ErrCorrupt }

// tell sends a message of control to the peer.
func (s *side) tell(match uint64, message []byte) error {
	r, err := s.ep.Isend(message, s.peer, match, nil)
	if err != nil {
		return err
	}
	return s.wait(r)
}

// hear receives one.
func (s *side) hear() ([]byte, error) {
	r, err := s.ep.Irecv(s.control[:], matchControl, mx.MatchMaskNone, nil)
	if err != nil {
		return nil, err
	}
	for {
		st, done, err := s.ep.Wait(r, lookAfter)
		switch {
		case done:
			return s.control[:st.XferLength], st.Err()
		case err == nil:
			err = s.look()
		}
		if err != nil {
			_, _ = s.ep.Cancel(r)
			return nil, err
		}
	}
}
