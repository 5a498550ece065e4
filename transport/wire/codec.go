package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrMalformed is what Parse returns for bytes that are no frame header.
var ErrMalformed = errors.New("malformed frame header")

// Word0 packs the first eight bytes of the byte form: kind, flags, the medium's
// own 16 bits and the payload length.
func (h *Header) Word0(medium uint16) uint64 {
	return uint64(h.Kind) | uint64(h.Flags)<<8 | uint64(medium)<<16 | uint64(h.Length)<<32
}

// SetWord0 unpacks what Word0 packed, but for the medium's bits. It reports
// whether kind and flags are known ones.
func (h *Header) SetWord0(w uint64) bool {
	h.Kind, h.Flags, h.Length = Kind(w), Flags(w>>8), uint32(w>>32)
	return h.Kind.Valid() && h.Flags < flagsEnd
}

// Word2 packs sequence number and session, bytes 16 to 24.
func (h *Header) Word2() uint64 { return uint64(h.Seq) | uint64(h.Session)<<32 }

// SetWord2 unpacks what Word2 packed.
func (h *Header) SetWord2(w uint64) { h.Seq, h.Session = uint32(w), uint32(w>>32) }

// AppendExtensions appends the extensions that the flags ask for.
func (h *Header) AppendExtensions(b []byte) []byte {
	if h.Flags&HasID != 0 {
		b = binary.LittleEndian.AppendUint64(b, h.ID)
	}
	if h.Flags&HasRange != 0 {
		b = binary.LittleEndian.AppendUint32(b, h.Total)
		b = binary.LittleEndian.AppendUint32(b, h.Offset)
	}
	if h.Flags&HasAck != 0 {
		b = binary.LittleEndian.AppendUint64(b, uint64(h.Ack))
	}
	return b
}

// ParseExtensions reads the extensions that the flags ask for from b, which
// must hold Size()-BaseSize bytes or more.
func (h *Header) ParseExtensions(b []byte) {
	h.ID, h.Total, h.Offset, h.Ack = 0, 0, 0, 0
	if h.Flags&HasID != 0 {
		h.ID = binary.LittleEndian.Uint64(b)
		b = b[ExtensionSize:]
	}
	if h.Flags&HasRange != 0 {
		h.Total, h.Offset = binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
		b = b[ExtensionSize:]
	}
	if h.Flags&HasAck != 0 {
		h.Ack = binary.LittleEndian.Uint32(b)
	}
}

// Append appends the byte form of the header to b.
func (h *Header) Append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint64(b, h.Word0(0))
	b = binary.LittleEndian.AppendUint64(b, h.Match)
	b = binary.LittleEndian.AppendUint64(b, h.Word2())
	return h.AppendExtensions(b)
}

// Parse decodes a header from the front of b and returns how many bytes it
// took. The payload of h.Length bytes follows; whether it is there, and whether
// its length is sensible, is for the caller to check.
func Parse(b []byte) (h Header, n int, err error) {
	if len(b) < BaseSize {
		return Header{}, 0, fmt.Errorf("%w: %d of %d bytes", ErrMalformed, len(b), BaseSize)
	}
	w0 := binary.LittleEndian.Uint64(b)
	if !h.SetWord0(w0) || uint16(w0>>16) != 0 {
		return Header{}, 0, fmt.Errorf("%w: kind %d, flags %#x", ErrMalformed, uint8(w0), uint8(w0>>8))
	}
	if len(b) < h.Size() {
		return Header{}, 0, fmt.Errorf("%w: %d of %d bytes", ErrMalformed, len(b), h.Size())
	}
	h.Match = binary.LittleEndian.Uint64(b[8:])
	h.SetWord2(binary.LittleEndian.Uint64(b[16:]))
	h.ParseExtensions(b[BaseSize:])
	return h, h.Size(), nil
}
