package gather

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"
)

func TestDescription(t *testing.T) {
	places := []Place{{0x7f0102030405, 0x10, 0xaabbccdd}, {1, math.MaxUint32 - 0x10, 0}}
	desc := Describe([]byte("head"), places...)
	want := "head\x05\x04\x03\x02\x01\x7f\x00\x00\x10\x00\x00\x00\xdd\xcc\xbb\xaa" +
		"\x01\x00\x00\x00\x00\x00\x00\x00\xef\xff\xff\xff\x00\x00\x00\x00"
	if string(desc) != want {
		t.Errorf("described as %q", desc)
	}
	got, n, err := Parse([]Place{{9, 9, 9}}, desc[4:])
	if err != nil || uint32(n) != math.MaxUint32 || !slices.Equal(got, append([]Place{{9, 9, 9}}, places...)) {
		t.Errorf("parsed as %v, %d bytes, %v", got, n, err)
	}
	if got, n, err := Parse(nil, nil); err != nil || n != 0 || len(got) != 0 {
		t.Errorf("nothing is parsed as %v, %d bytes, %v", got, n, err)
	}
}

func TestParseRefuses(t *testing.T) {
	good := Describe(nil, Place{4096, 1, 2})
	for name, desc := range map[string][]byte{
		"half a place":    good[:8],
		"a byte too many": append(bytes.Clone(good), 0),
		"an empty place":  Describe(nil, Place{4096, 0, 2}),
		"past the end":    Describe(nil, Place{math.MaxUint64 - 10, 11, 2}),
		"4 GiB":           Describe(nil, Place{0, math.MaxUint32, 1}, Place{0, 1, 1}),
		"too many places": bytes.Repeat(good, MaxPlaces+1),
	} {
		if got, n, err := Parse(nil, desc); !errors.Is(err, ErrBadDescription) || n != 0 || len(got) != 0 {
			t.Errorf("%s: %d places, %d bytes, error %v", name, len(got), n, err)
		}
	}
	if got, _, err := Parse(nil, bytes.Repeat(good, MaxPlaces)); err != nil || len(got) != MaxPlaces {
		t.Errorf("%d places: %d, %v", MaxPlaces, len(got), err)
	}
}

// FuzzParse: what parses is described by the same bytes.
func FuzzParse(f *testing.F) {
	f.Add(Describe(nil, Place{4096, 100, 7}, Place{8192, 1, 9}))
	f.Fuzz(func(t *testing.T, desc []byte) {
		places, n, err := Parse(nil, desc)
		if err != nil {
			return
		}
		sum := 0
		for _, p := range places {
			sum += int(p.Length)
		}
		if again := Describe(nil, places...); !bytes.Equal(again, desc) || n != sum {
			t.Errorf("%x became %x, %d bytes of %d", desc, again, n, sum)
		}
	})
}
