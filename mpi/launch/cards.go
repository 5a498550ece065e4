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

// A bundle is the cards of some ranks, as texts that PMI carries: packed, compressed, since cards of
// one host look much alike, written in 64 letters, and cut into values. The first value begins with
// the number of values:
//
//	3.rZHBasMwEER_xexhSURvfbA6x...
//
// A key for each rank would be less code, and more work for the launcher: it answers one request after the other, and each host would ask for
// the cards of all ranks. For 1,000 ranks on 100 hosts that is 100,000 requests, which take longer than a launcher is waited for.
//
// Unpacked it is, for each rank: the rank, the length of its card, and the card.

var letters = base64.RawURLEncoding

// packCards writes the cards of those ranks that have one.
func packCards(cards [][]byte) []byte {
	var b []byte
	for rank, card := range cards {
		if card == nil {
			continue
		}
		b = binary.AppendUvarint(b, uint64(rank))
		b = binary.AppendUvarint(b, uint64(len(card)))
		b = append(b, card...)
	}
	return b
}

// unpackCards adds what packCards has written to cards, and returns how many ranks that were.
func unpackCards(b []byte, cards [][]byte) (n int, err error) {
	for len(b) > 0 {
		rank, used := binary.Uvarint(b)
		if used <= 0 || rank >= uint64(len(cards)) {
			return n, errors.New("a bundle of cards with a rank that does not exist")
		}
		b = b[used:]
		length, used := binary.Uvarint(b)
		if used <= 0 || length > MaxCard || length > uint64(len(b)-used) {
			return n, errors.New("a bundle of cards that is cut off")
		}
		card := b[used : used+int(length)]
		cards[rank] = append([]byte{}, card...)
		b = b[used+int(length):]
		n++
	}
	return n, nil
}

// bundle makes the values for some cards, each of at most longest bytes.
func bundle(cards [][]byte, longest int) []string {
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.BestCompression) // the level exists
	_, _ = w.Write(packCards(cards))                        // a buffer takes everything
	_ = w.Close()
	text := letters.EncodeToString(packed.Bytes())
	const head = 8 // digits of the number of values, and the point
	room := longest - head
	parts := []string{}
	for len(text) > room {
		parts, text = append(parts, text[:room]), text[room:]
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
		return 0, "", fmt.Errorf("a bundle of cards that begins with %q", first[:min(len(first), 20)])
	}
	return n, rest, nil
}

// maxParts bounds the values of a bundle, longestBundle its bytes unpacked.
const (
	maxParts      = 1 << 20
	longestBundle = 1 << 30
)

// unbundle adds the cards of a bundle, given the text of all its values, to cards.
func unbundle(text string, cards [][]byte) (n int, err error) {
	packed, err := letters.DecodeString(text)
	if err != nil {
		return 0, fmt.Errorf("a bundle of cards that is none: %w", err)
	}
	b, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), longestBundle))
	if err != nil {
		return 0, fmt.Errorf("a bundle of cards that does not unpack: %w", err)
	}
	return unpackCards(b, cards)
}
