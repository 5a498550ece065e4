package wire_test

import (
	"bytes"
	"errors"
	"testing"

	"gomx/transport/wire"
)

// FuzzParse takes any bytes for a frame. What parses must encode to bytes that
// parse to the same, and no prefix of those may parse.
func FuzzParse(f *testing.F) {
	for name := range golden {
		f.Add(readHex(f, name))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		h, n, err := wire.Parse(b)
		if err != nil {
			if h != (wire.Header{}) || n != 0 || !errors.Is(err, wire.ErrMalformed) {
				t.Fatalf("error %v comes with %+v and %d", err, h, n)
			}
			return
		}
		if n != h.Size() || n > len(b) || n > wire.MaxHeader || !h.Kind.Valid() || h.Kind.String() == "kind?" {
			t.Fatalf("parsed %+v from %d bytes, took %d", h, len(b), n)
		}
		front := []byte("front")
		encoded := h.Append(front)[len(front):]
		if again, m, err := wire.Parse(encoded); again != h || m != n || len(encoded) != n || err != nil {
			t.Fatalf("%+v became %+v, %d bytes, error %v", h, again, m, err)
		}
		if h.Flags&wire.HasAck == 0 && !bytes.Equal(encoded, b[:n]) {
			t.Fatalf("%x became %x", b[:n], encoded)
		}
		for short := range n {
			if _, _, err := wire.Parse(encoded[:short:short]); !errors.Is(err, wire.ErrMalformed) {
				t.Fatalf("%d of %d bytes parsed", short, n)
			}
		}
	})
}

// FuzzHeader encodes any header that can be.
func FuzzHeader(f *testing.F) {
	f.Add(uint8(1), uint8(15), uint32(5), uint64(1), uint32(2), uint32(3), uint64(4), uint32(6), uint32(7), uint32(8))
	f.Fuzz(func(t *testing.T, kind, flags uint8, length uint32, match uint64, seq, session uint32,
		id uint64, total, offset, ack uint32) {
		h := wire.Header{
			Kind: wire.Kind(kind), Flags: wire.Flags(flags & 15), Length: length, Match: match, Seq: seq, Session: session,
		}
		if h.Flags&wire.HasID != 0 {
			h.ID = id
		}
		if h.Flags&wire.HasRange != 0 {
			h.Total, h.Offset = total, offset
		}
		if h.Flags&wire.HasAck != 0 {
			h.Ack = ack
		}
		got, n, err := wire.Parse(h.Append(nil))
		if !h.Kind.Valid() {
			if err == nil {
				t.Fatalf("kind %d parsed", kind)
			}
			return
		}
		if err != nil || got != h || n != h.Size() {
			t.Fatalf("%+v became %+v, %d bytes, error %v", h, got, n, err)
		}
	})
}

func TestParseRefuses(t *testing.T) {
	good := (&wire.Header{Kind: wire.Eager}).Append(nil)
	for _, c := range []struct {
		name  string
		at    int
		value byte
	}{
		{"kind 0", 0, 0}, {"the kind after the last", 0, byte(wire.AtomicData) + 1}, {"kind 255", 0, 255}, {"an unknown flag", 1, 32}, {"all flags", 1, 255},
		{"the medium's first byte", 2, 1}, {"the medium's second byte", 3, 1},
	} {
		bad := bytes.Clone(good)
		bad[c.at] = c.value
		if _, _, err := wire.Parse(bad); !errors.Is(err, wire.ErrMalformed) {
			t.Errorf("%s: error %v, want ErrMalformed", c.name, err)
		}
	}
}

func TestUnflaggedFieldsDoNotTravel(t *testing.T) {
	h := wire.Header{Kind: wire.Eager, ID: 1, Total: 2, Offset: 3, Ack: 4}
	if got, _, err := wire.Parse(h.Append(nil)); err != nil || got != (wire.Header{Kind: wire.Eager}) {
		t.Errorf("parsed %+v, error %v", got, err)
	}
}

// TestWords packs a header as shared memory does, with the medium's own bits.
func TestWords(t *testing.T) {
	h := wire.Header{Kind: wire.PullData, Flags: wire.HasID | wire.Sync, Length: 0xfedcba98, Seq: 0x01020304, Session: 0x05060708}
	var got wire.Header
	if w := h.Word0(0xabcd); uint16(w>>16) != 0xabcd || !got.SetWord0(w) {
		t.Errorf("word 0 is %#x", w)
	}
	got.SetWord2(h.Word2())
	if got != h {
		t.Errorf("%+v became %+v", h, got)
	}
}

func TestSequencedKinds(t *testing.T) {
	for kind := wire.Kind(0); kind < 22; kind++ {
		offers := kind == wire.Rendezvous || kind == wire.PutOffer || kind == wire.GetOffer
		want := offers || kind == wire.Eager || kind == wire.Notify || kind == wire.Put || kind == wire.Get || kind == wire.GetData ||
			kind == wire.Atomic || kind == wire.AtomicData || kind == wire.Credit
		if kind.Sequenced() != want {
			t.Errorf("%v sequenced: %v", kind, !want)
		}
		if kind.Offers() != offers {
			t.Errorf("%v offers memory: %v", kind, !offers)
		}
		if kind.Valid() == (kind.String() == "kind?") {
			t.Errorf("kind %d is called %q", kind, kind)
		}
	}
}

// FuzzConnect: what parses as a connect payload encodes to the same again.
func FuzzConnect(f *testing.F) {
	for _, name := range []string{"connect", "connect_reply", "connect_contexts"} {
		f.Add(readHex(f, name)[wire.BaseSize:])
	}
	f.Add(make([]byte, wire.ConnectSize))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := wire.ParseConnect(b)
		if err != nil && !errors.Is(err, wire.ErrMalformed) {
			t.Fatalf("error %v", err)
		}
		if len(b) < wire.ConnectSize {
			if err == nil || c != (wire.ConnectInfo{}) {
				t.Fatalf("%d bytes gave %+v, error %v", len(b), c, err)
			}
			return
		}
		if err == nil && c.Version != wire.Version {
			t.Fatalf("version %d, error %v", c.Version, err)
		}
		if err != nil {
			return
		}
		if data, ok := wire.ConnectData(b); ok != (len(data) <= wire.MaxConnectData) || len(data) != len(b)-c.Size() {
			t.Fatalf("%d bytes have %d of data, %v", len(b), len(data), ok)
		}
		encoded := c.Append(nil)
		again, err2 := wire.ParseConnect(encoded)
		if len(encoded) != c.Size() || again != c || (err2 == nil) != (err == nil) {
			t.Fatalf("%+v became %+v, error %v", c, again, err2)
		}
		for short := range encoded {
			if _, err := wire.ParseConnect(encoded[:short:short]); err == nil {
				t.Fatalf("%d of %d bytes parsed", short, len(encoded))
			}
		}
	})
}
