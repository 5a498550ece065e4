//go:build linux

package tcp_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"gomx/transport/tcp"
)

// chapter returns what docs/wire.md says about this transport, on one line.
func chapter(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/wire.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(page), "\n## TCP\n")
	if !ok {
		t.Fatal("docs/wire.md has no chapter about TCP")
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return strings.Join(strings.Fields(text), " ")
}

// TestWireDocs compares the chapter's figures with the code.
func TestWireDocs(t *testing.T) {
	text := chapter(t)
	for _, want := range []string{
		fmt.Sprintf("of this chapter: %d |", tcp.Version),
		fmt.Sprintf("%d bytes each, as they were sent", tcp.HelloSize),
		fmt.Sprintf("The base is %d and the endpoints are %d", tcp.DefaultPortBase, tcp.DefaultPorts),
		fmt.Sprintf("to the next after %d ms", tcp.NextAddress.Milliseconds()),
		fmt.Sprintf("one address %d seconds", int(tcp.DefaultConnectTimeout.Seconds())),
		fmt.Sprintf("after %d ms at first", tcp.FirstPause.Milliseconds()),
		fmt.Sprintf("doubles up to %d ms", tcp.LongestPause.Milliseconds()),
		fmt.Sprintf("Up to %d inbound handshakes are pending", tcp.Handshakes),
		fmt.Sprintf("within the last %d ms", tcp.LeastStay.Milliseconds()),
		fmt.Sprintf("The largest payload of a frame is %d bytes, and that of a pull-data frame %d, or %d over TLS",
			tcp.MaxFrame, tcp.MaxPullFrame, tcp.MaxFrame),
		fmt.Sprintf("asks for %d bytes", tcp.MaxFrame),
		fmt.Sprintf("confirmed nothing for %d seconds", int(tcp.DefaultKeepAlive.Seconds())),
		fmt.Sprintf("choose from %d seconds on", int(tcp.LeastKeepAlive.Seconds())),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("docs/wire.md does not say %q", want)
		}
	}
	for words, bound := range map[string]time.Duration{"a second": tcp.CloseBound, "one minute": tcp.LingerBound / 60} {
		if !strings.Contains(text, words) || bound != time.Second {
			t.Errorf("docs/wire.md says that a link lingers for a second, or one minute; the code has %v and %v", tcp.CloseBound, tcp.LingerBound)
		}
	}
	for purpose := range tcp.RDMA + 1 {
		if want := fmt.Sprintf("| %d | %v |", uint32(purpose), purpose); !strings.Contains(text, want) {
			t.Errorf("docs/wire.md does not say %q", want)
		}
	}
	for n := range int(tcp.LastAnswer) + 1 {
		if want := fmt.Sprintf("| %d | %s |", n, tcp.AnswerText(n)); !strings.Contains(text, want) {
			t.Errorf("docs/wire.md does not say %q", want)
		}
	}
}
