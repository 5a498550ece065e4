package gather

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"
)

func TestDescription(t *testing.T) {
	segments := []Segment{{0x7f0102030405, 0x10, 0xaabbccdd}, {1, math.MaxUint32 - 0x10, 0}}
	desc := AppendDescriptor([]byte("head"), segments...)
	want := "head\x05\x04\x03\x02\x01\x7f\x00\x00\x10\x00\x00\x00\xdd\xcc\xbb\xaa" +
		"\x01\x00\x00\x00\x00\x00\x00\x00\xef\xff\xff\xff\x00\x00\x00\x00"
	if string(desc) != want {
		t.Errorf("described as %q", desc)
	}
	got, n, err := ParseDescriptor([]Segment{{9, 9, 9}}, desc[4:])
	if err != nil || uint32(n) != math.MaxUint32 || !slices.Equal(got, append([]Segment{{9, 9, 9}}, segments...)) {
		t.Errorf("parsed as %v, %d bytes, %v", got, n, err)
	}
	if got, n, err := ParseDescriptor(nil, nil); err != nil || n != 0 || len(got) != 0 {
		t.Errorf("nothing is parsed as %v, %d bytes, %v", got, n, err)
	}
}

func TestParseRefuses(t *testing.T) {
	good := AppendDescriptor(nil, Segment{4096, 1, 2})
	for name, desc := range map[string][]byte{
		"half a segment":    good[:8],
		"a byte too many":   append(bytes.Clone(good), 0),
		"an empty segment":  AppendDescriptor(nil, Segment{4096, 0, 2}),
		"past the end":      AppendDescriptor(nil, Segment{math.MaxUint64 - 10, 11, 2}),
		"4 GiB":             AppendDescriptor(nil, Segment{0, math.MaxUint32, 1}, Segment{0, 1, 1}),
		"too many segments": bytes.Repeat(good, MaxSegments+1),
	} {
		if got, n, err := ParseDescriptor(nil, desc); !errors.Is(err, ErrBadDescriptor) || n != 0 || len(got) != 0 {
			t.Errorf("%s: %d segments, %d bytes, error %v", name, len(got), n, err)
		}
	}
	if got, _, err := ParseDescriptor(nil, bytes.Repeat(good, MaxSegments)); err != nil || len(got) != MaxSegments {
		t.Errorf("%d segments: %d, %v", MaxSegments, len(got), err)
	}
}

// FuzzParse: what parses is described by the same bytes.
func FuzzParse(f *testing.F) {
	f.Add(AppendDescriptor(nil, Segment{4096, 100, 7}, Segment{8192, 1, 9}))
	f.Fuzz(func(t *testing.T, desc []byte) {
		segments, n, err := ParseDescriptor(nil, desc)
		if err != nil {
			return
		}
		sum := 0
		for _, p := range segments {
			sum += int(p.Length)
		}
		if again := AppendDescriptor(nil, segments...); !bytes.Equal(again, desc) || n != sum {
			t.Errorf("%x became %x, %d bytes of %d", desc, again, n, sum)
		}
	})
}
