package processes

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"gomx/mx"
)

// TestCleanAll takes what a terminal obeys out of every text of a reading.
func TestCleanAll(t *testing.T) {
	const bad = "\x1b[2Ja\r\nb\u202ec\u009bd\u2028e\x7f"
	r := []*mx.LiveReading{{Cleared: map[string]mx.ClearedCounters{bad: {}}, ProcessSnapshot: mx.ProcessSnapshot{Command: bad, Host: bad,
		Endpoints: []mx.EndpointSnapshot{{Name: bad, Interface: bad, Transports: []string{bad}, Peers: []mx.PeerInfo{{Name: bad}},
			Counters: []mx.Counter{{Label: bad}}, Pending: []mx.PendingEntry{{Kind: bad}}, Diagnostics: []mx.Diagnostic{{Name: bad, Value: bad}}}}}}}
	CleanAll(&r)
	text, err := json.Marshal(r)
	if err != nil || strings.Contains(string(text), `\u`) || strings.ContainsFunc(string(text), func(c rune) bool { return !unicode.IsPrint(c) }) {
		t.Errorf("%s, %v", text, err)
	}
	if r[0].Command != "?[2Ja??b?c?d?e?" {
		t.Errorf("%q", r[0].Command)
	}
}
