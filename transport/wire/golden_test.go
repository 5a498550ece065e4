package wire_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gomx/transport/wire"
)

const session = 0x5e551234

var golden = map[string]struct {
	header  wire.Header
	payload string // unless connect is set
	connect *wire.ConnectInfo
}{
	"eager": {header: wire.Header{
		Kind: wire.Eager, Length: 5, Match: 0x0123456789abcdef, Seq: 0x10203, Session: session,
	}, payload: "hello"},
	"eager_sync": {header: wire.Header{
		Kind: wire.Eager, Flags: wire.HasID | wire.HasAck | wire.Sync,
		Match: 0x0123456789abcdef, Seq: 0x10204, Session: session, ID: 0xa1a2a3a4a5a6a7a8, Ack: 0x77,
	}},
	"eager_acknowledged": {header: wire.Header{
		Kind: wire.Eager, Flags: wire.HasID, Length: 5,
		Match: 0x0123456789abcdef, Seq: 0x10204, Session: session, ID: 0xa1a2a3a4a5a6a7a8,
	}, payload: "hello"},
	"eager_piece": {header: wire.Header{
		Kind: wire.Eager, Flags: wire.HasRange, Length: 5,
		Match: 0x0123456789abcdef, Seq: 0x10203, Session: session, Total: 11, Offset: 6,
	}, payload: "world"},
	"rendezvous": {header: wire.Header{
		Kind: wire.Rendezvous, Flags: wire.HasID | wire.HasRange, Length: 8,
		Match: 0x0123456789abcdef, Seq: 0x10205, Session: session, ID: 0x700000003, Total: 1 << 20,
	}, payload: "\x88\x77\x66\x55\x44\x33\x22\x11"},
	"notify": {header: wire.Header{
		Kind: wire.Notify, Flags: wire.HasID | wire.HasRange | wire.HasAck,
		Seq: 9, Session: session, ID: 0x700000003, Total: 1000, Offset: wire.Truncated, Ack: 0x10206,
	}},
	"pull_request": {header: wire.Header{
		Kind: wire.PullRequest, Flags: wire.HasID | wire.HasRange,
		Match: 0x900000002, Seq: 4096, Session: session, ID: 0x700000003, Total: 64 << 10, Offset: 128 << 10,
	}},
	"pull_data": {header: wire.Header{
		Kind: wire.PullData, Flags: wire.HasID | wire.HasRange, Length: 3,
		Session: session, ID: 0x900000002, Total: 1 << 20, Offset: 1<<20 - 3,
	}, payload: "end"},
	"ack":    {header: wire.Header{Kind: wire.Ack, Flags: wire.HasAck, Session: session, Ack: 0xfffffffe}},
	"resume": {header: wire.Header{Kind: wire.Resume, Flags: wire.HasAck, Length: wire.TokenSize, Session: session, Ack: 0xfffffffe}, payload: "what only you kn"},
	"nack":   {header: wire.Header{Kind: wire.Nack, Session: 0xdeadbeef}},
	"connect": {
		header: wire.Header{Kind: wire.Connect, Length: wire.ConnectSize},
		connect: &wire.ConnectInfo{
			Version: 6, Session: session, Filter: 0xcafe, Attempt: 3, NIC: 0x02000a000001, Endpoint: 6, EagerMax: 32 << 10,
			Shows: 1, Bytes: 16 << 10, Headers: 64,
			Token: wire.Token{1, 2, 3, 15: 16},
		},
	},
	"connect_data": {
		header: wire.Header{Kind: wire.Connect, Length: wire.ConnectSize + 5},
		connect: &wire.ConnectInfo{
			Version: 6, Session: session, Filter: 0xcafe, Attempt: 3, NIC: 0x02000a000001, Endpoint: 6, EagerMax: 32 << 10,
			Shows: 1, Bytes: 16 << 10, Headers: 64,
			Token: wire.Token{1, 2, 3, 15: 16},
		},
		payload: "hello",
	},
	"connect_reply": {
		header: wire.Header{Kind: wire.ConnectReply, Length: wire.ConnectSize, Session: 0x5e559876},
		connect: &wire.ConnectInfo{
			Version: 6, Session: session, Attempt: 3, NIC: 0x02000a000001, Endpoint: 6, EagerMax: 32 << 10, Status: 17,
			Bytes: 16 << 10, Headers: 64,
		},
	},
	"connect_contexts": {
		header: wire.Header{Kind: wire.Connect, Length: wire.ConnectSize + 12},
		connect: &wire.ConnectInfo{
			Version: 6, Session: session, Filter: 0xcafe, Attempt: 3, NIC: 0x02000a000001, Endpoint: 6, EagerMax: 32 << 10,
			Shows: 1, Contexts: wire.MakeContexts([]string{"control", "data"}, 1), Bytes: 16 << 10, Headers: 64,
			Token: wire.Token{1, 2, 3, 15: 16},
		},
	},
	"put": {header: wire.Header{
		Kind: wire.Put, Flags: wire.HasID | wire.HasRange, Length: 5,
		Match: 0x0123456789ab0003, Seq: 0x10206, Session: session, ID: 0x700000004, Total: 5, Offset: 4096,
	}, payload: "hello"},
	"put_write": {header: wire.Header{
		Kind: wire.Put, Flags: wire.HasRange, Length: 5,
		Match: 0x0123456789ab0003, Seq: 0x10206, Session: session, Total: 5, Offset: 4096,
	}, payload: "hello"},
	"put_piece": {header: wire.Header{
		Kind: wire.Put, Flags: wire.HasID | wire.HasRange, Length: 5,
		Match: 0x0123456789ab0003, Seq: 0x10206, Session: session, ID: 0x700000004, Total: 11, Offset: 4096 + 6,
	}, payload: "world"},
	"put_offer": {header: wire.Header{
		Kind: wire.PutOffer, Flags: wire.HasID | wire.HasRange, Length: 8,
		Match: 0x0123456789ab0003, Seq: 0x10207, Session: session, ID: 0x700000005, Total: 1 << 20, Offset: 4096,
	}, payload: "\x88\x77\x66\x55\x44\x33\x22\x11"},
	"get": {header: wire.Header{
		Kind: wire.Get, Flags: wire.HasID | wire.HasRange,
		Match: 0x0123456789ab0003, Seq: 0x10208, Session: session, ID: 0x700000006, Total: 5, Offset: 4096,
	}},
	"get_data": {header: wire.Header{
		Kind: wire.GetData, Flags: wire.HasID, Length: 5, Seq: 10, Session: session, ID: 0x700000006,
	}, payload: "hello"},
	"get_data_piece": {header: wire.Header{
		Kind: wire.GetData, Flags: wire.HasID | wire.HasRange, Length: 5,
		Seq: 10, Session: session, ID: 0x700000006, Total: 11, Offset: 6,
	}, payload: "world"},
	"get_offer": {header: wire.Header{
		Kind: wire.GetOffer, Flags: wire.HasID | wire.HasRange, Length: 8,
		Match: 0x700000007, Seq: 11, Session: session, ID: 0x900000005, Total: 1 << 20,
	}, payload: "\x88\x77\x66\x55\x44\x33\x22\x11"},
	"atomic": {header: wire.Header{
		Kind: wire.Atomic, Flags: wire.HasID | wire.HasRange, Length: 8,
		Match: 0x0123456789ab0003, Seq: 0x10209, Session: session, ID: 0x700000007,
		Total: wire.AtomicWhat{Op: wire.AtomicSum, Type: wire.AtomicInt64, Fetch: true}.Word(), Offset: 4096,
	}, payload: "\x07\x00\x00\x00\x00\x00\x00\x00"},
	"atomic_write": {header: wire.Header{
		Kind: wire.Atomic, Flags: wire.HasRange, Length: 5, Match: 0x0123456789ab0003, Seq: 0x10209, Session: session,
		Total: wire.AtomicWhat{Op: wire.AtomicReplace, Type: wire.AtomicBytes}.Word(), Offset: 4096,
	}, payload: "hello"},
	"atomic_data": {header: wire.Header{
		Kind: wire.AtomicData, Flags: wire.HasID, Length: 8, Seq: 11, Session: session, ID: 0x700000007,
	}, payload: "\x23\x00\x00\x00\x00\x00\x00\x00"},
	"bye": {header: wire.Header{Kind: wire.Bye, Session: session}},
	"credit": {header: wire.Header{
		Kind: wire.Credit, Flags: wire.HasRange, Match: 1, Seq: 12, Session: session, Total: 1 << 20, Offset: 2048,
	}},
	"eager_as_header": {header: wire.Header{
		Kind: wire.Eager, Flags: wire.AsHeader, Length: 5, Match: 0x0123456789abcdef, Seq: 0x10203, Session: session,
	}, payload: "hello"},
}

// TestGolden compares the codec with the frames in testdata, whose bytes are
// fixed: who changes one changes wire.Version.
func TestGolden(t *testing.T) {
	covered := map[wire.Kind]bool{}
	for name, want := range golden {
		t.Run(name, func(t *testing.T) {
			covered[want.header.Kind] = true
			frame := readHex(t, name)
			h, n, err := wire.Parse(frame)
			if err != nil || h != want.header || n != h.Size() {
				t.Fatalf("parsed %+v, %d bytes, error %v; want %+v", h, n, err, want.header)
			}
			if got := want.header.Append(nil); !bytes.Equal(got, frame[:n]) {
				t.Errorf("encoded\n%x, want\n%x", got, frame[:n])
			}
			payload := frame[n:]
			if len(payload) != int(h.Length) {
				t.Fatalf("%d bytes follow the header, want %d", len(payload), h.Length)
			}
			if want.connect == nil {
				if string(payload) != want.payload {
					t.Errorf("payload %q, want %q", payload, want.payload)
				}
				return
			}
			c, err := wire.ParseConnect(payload)
			if err != nil || c != *want.connect {
				t.Errorf("parsed %+v, error %v; want %+v", c, err, *want.connect)
			}
			if data, ok := wire.ConnectData(payload); !ok || string(data) != want.payload {
				t.Errorf("data %q, %v; want %q", data, ok, want.payload)
			}
			if got := append(want.connect.Append(nil), want.payload...); !bytes.Equal(got, payload) {
				t.Errorf("encoded\n%x, want\n%x", got, payload)
			}
		})
	}
	for kind := wire.Kind(1); kind.Valid(); kind++ {
		if !covered[kind] {
			t.Errorf("no golden frame of kind %v", kind)
		}
	}
	files, _ := filepath.Glob("testdata/*.hex")
	if len(files) != len(golden) {
		t.Errorf("%d files for %d golden frames", len(files), len(golden))
	}
}

// readHex reads bytes in hexadecimal, freely spaced, with # before comments.
func readHex(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".hex"))
	if err != nil {
		t.Fatal(err)
	}
	var digits strings.Builder
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		for field := range strings.FieldsSeq(line) {
			digits.WriteString(field)
		}
	}
	b, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b
}
