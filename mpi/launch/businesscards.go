package launch

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A bundle is the business cards of some ranks as texts that PMI can carry. They are packed, compressed (those of one host
// are similar), encoded in base64, and cut into values. The first value begins with the number of values:
//
//	3.rZHBasMwEER_xexhSURvfbA6x...
//
// A key for each rank would need less code, but is too much work for the launcher: it answers one request after the other,
// and each host would ask for the business cards of all ranks. With 1,000 ranks on 100 hosts that is 100,000 requests in the place
// of 10,000: 7 s with Hydra, which takes some 70 us for each.
//
// An unpacked bundle has for each rank its number, the length of its business card, and the business card.

var letters = base64.RawURLEncoding

// packBusinessCards encodes the business cards of those ranks that have one.
func packBusinessCards(businessCards [][]byte) []byte {
	var b []byte
	for rank, businessCard := range businessCards {
		if businessCard == nil {
			continue
		}
		b = binary.AppendUvarint(b, uint64(rank))
		b = binary.AppendUvarint(b, uint64(len(businessCard)))
		b = append(b, businessCard...)
	}
	return b
}

// unpackBusinessCards adds what packBusinessCards has written to business cards, and returns how many ranks that were.
func unpackBusinessCards(b []byte, businessCards [][]byte) (n int, err error) {
	for len(b) > 0 {
		rank, used := binary.Uvarint(b)
		if used <= 0 || rank >= uint64(len(businessCards)) {
			return n, errors.New("a bundle of business cards with a rank that does not exist")
		}
		b = b[used:]
		length, used := binary.Uvarint(b)
		if used <= 0 || length > MaxBusinessCard || length > uint64(len(b)-used) {
			return n, errors.New("a bundle of business cards that is cut off")
		}
		businessCard := b[used : used+int(length)]
		businessCards[rank] = append([]byte{}, businessCard...)
		b = b[used+int(length):]
		n++
	}
	return n, nil
}

// bundle makes the values for some business cards, each of at most longest bytes.
func bundle(businessCards [][]byte, longest int) []string {
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.BestCompression) // the level exists
	_, _ = w.Write(packBusinessCards(businessCards))        // a buffer takes everything
	_ = w.Close()
	text := letters.EncodeToString(packed.Bytes())
	const head = 8 // digits of the number of values, and the point
	space := longest - head
	parts := []string{}
	for len(text) > space {
		parts, text = append(parts, text[:space]), text[space:]
	}
	parts = append(parts, text)
	parts[0] = strconv.Itoa(len(parts)) + "." + parts[0]
	return parts
}

// parts returns how many values the bundle has that begins with first, and the rest of first.
func parts(first string) (n int, rest string, err error) {
	digits, rest, ok := strings.Cut(first, ".")
	n, err = strconv.Atoi(digits)
	if !ok || err != nil || n < 1 || n > maxParts {
		return 0, "", fmt.Errorf("a bundle of business cards that begins with %q", first[:min(len(first), 20)])
	}
	return n, rest, nil
}

// maxParts bounds the values of a bundle, longestBundle its bytes unpacked.
const (
	maxParts      = 1 << 20
	longestBundle = 1 << 30
)

// unbundle adds the business cards of a bundle to businessCards. text is all its values, without the number of values.
func unbundle(text string, businessCards [][]byte) (n int, err error) {
	packed, err := letters.DecodeString(text)
	if err != nil {
		return 0, fmt.Errorf("a bundle of business cards that is none: %w", err)
	}
	b, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), longestBundle))
	if err != nil {
		return 0, fmt.Errorf("a bundle of business cards that does not unpack: %w", err)
	}
	return unpackBusinessCards(b, businessCards)
}
