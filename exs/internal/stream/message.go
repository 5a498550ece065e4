package stream

import "encoding/binary"

// Kind is the kind of a control message.
type Kind uint8

// The kinds. The first four go to the Sender, the others to the Receiver.
const (
	// Advert: a receive of Len bytes is posted as Number. Epoch is the direct phase
	// that it belongs to; Position counts for the first of a phase. Whole: nothing
	// may go to later adverts before this one is full.
	Advert Kind = iota + 1
	// Ack: the sender may have sent Window indirect bytes in all.
	Ack
	// Withdraw: adverts of the Epoch from Number on are not to be used any more.
	Withdraw
	// Answer: to the Ask Number: no advert, the sender is ahead.
	Answer
	// Ask: the sender waits for an advert or for the Answer to Number.
	Ask
	// Withdrawn: the answer to a Withdraw; Number is one more than the last advert
	// that was used.
	Withdrawn
	// Fin: the stream ends at Position; Number as in Withdrawn.
	Fin
	// Full: the sender waits for a larger Window than the one it has used up.
	Full
)

// ForSender reports whether the end that sends data gets this kind.
func (k Kind) ForSender() bool { return k <= Answer }

// Message is a control message. Which fields count, the kind says; the others are
// zero. An Advert and an Answer bring a Window as well.
type Message struct {
	Kind     Kind
	Whole    bool
	Number   uint32
	Epoch    uint32
	Len      uint32
	Position uint64
	Window   uint64
}

// MessageSize is the size of a control message, bytes.
const MessageSize = 32

// Encode writes m in little endian: kind, whole, two zero bytes, number, epoch,
// length, position, window.
func (m *Message) Encode(b *[MessageSize]byte) {
	b[0], b[1], b[2], b[3] = byte(m.Kind), 0, 0, 0
	if m.Whole {
		b[1] = 1
	}
	binary.LittleEndian.PutUint32(b[4:], m.Number)
	binary.LittleEndian.PutUint32(b[8:], m.Epoch)
	binary.LittleEndian.PutUint32(b[12:], m.Len)
	binary.LittleEndian.PutUint64(b[16:], m.Position)
	binary.LittleEndian.PutUint64(b[24:], m.Window)
}

// Decode reads what Encode wrote. Error: an ErrProtocol for anything else, also
// for a field set that the kind doesn't have.
func Decode(m *Message, b []byte) error {
	if len(b) != MessageSize || b[1] > 1 || b[2]|b[3] != 0 {
		return errMessage
	}
	*m = Message{
		Kind:     Kind(b[0]),
		Whole:    b[1] == 1,
		Number:   binary.LittleEndian.Uint32(b[4:]),
		Epoch:    binary.LittleEndian.Uint32(b[8:]),
		Len:      binary.LittleEndian.Uint32(b[12:]),
		Position: binary.LittleEndian.Uint64(b[16:]),
		Window:   binary.LittleEndian.Uint64(b[24:]),
	}
	if m.Kind < Advert || m.Kind > Full {
		return errMessage
	}
	rest := *m
	rest.clear(m.Kind)
	if rest != (Message{}) {
		return errMessage
	}
	return nil
}

// clear zeroes the fields that kind k has.
func (m *Message) clear(k Kind) {
	m.Kind = 0
	if k != Ack && k != Full {
		m.Number = 0
	}
	if k == Advert || k == Withdraw || k == Withdrawn {
		m.Epoch = 0
	}
	if k == Advert || k == Ack || k == Answer {
		m.Window = 0
	}
	if k == Advert || k == Fin {
		m.Position = 0
	}
	if k == Advert {
		m.Whole, m.Len = false, 0
	}
}

// before compares numbers that wrap around.
func before(a, b uint32) bool { return int32(a-b) < 0 }
