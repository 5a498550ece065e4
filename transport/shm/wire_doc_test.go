//go:build linux

package shm

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"gomx/transport/shm/internal/ring"
)

// TestWireDocs compares the figures of docs/wire.md with the code, and the version
// with what a hello says.
func TestWireDocs(t *testing.T) {
	page, err := os.ReadFile("../../docs/wire.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n## Shared memory\n")
	text, _, _ = strings.Cut(text, "\n## ")
	text = strings.Join(strings.Fields(text), " ")
	for _, want := range []string{
		fmt.Sprintf("`gomxshm`, and the version of this chapter: %d |", version),
		fmt.Sprintf("more than %d handshakes", handshakes/2),
		fmt.Sprintf("A ring is %d bytes", ring.Size),
		fmt.Sprintf("A table of exports holds %d generations of 8 bytes", exportSlots),
		fmt.Sprintf("that of the other, %d bytes each", tableSpan),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("docs/wire.md does not say %q", want)
		}
	}
	if b := new(hello).append(nil); len(b) != helloSize || string(b[:7]) != "gomxshm" || b[7] != version {
		t.Errorf("a hello of %d bytes begins with %q, want %d bytes, gomxshm and %d", len(b), b[:8], helloSize, version)
	}
}
