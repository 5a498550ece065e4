package payload_test

import (
	"io"
	"slices"
	"testing"

	"gomx/bench/ordinary/internal/payload"
)

const length = 1<<20 + 7

func check(whole bool, b []byte) error {
	c := payload.Checker{Whole: whole}
	for piece := range slices.Chunk(b, 32<<10) {
		if _, err := c.Write(piece); err != nil {
			return err
		}
	}
	return c.End(length)
}

func TestChecker(t *testing.T) {
	sent, err := io.ReadAll(payload.NewReader(length))
	if err != nil {
		t.Fatal(err)
	}
	if err := payload.Same(sent, payload.Bytes(length)); err != nil {
		t.Error(err)
	}
	swapped := slices.Clone(sent)
	copy(swapped[64<<10:], sent[128<<10:192<<10])
	copy(swapped[128<<10:], sent[64<<10:128<<10])
	missing := slices.Delete(slices.Clone(sent), 64<<10, 128<<10)
	flipped := slices.Clone(sent)
	flipped[1000] ^= 1
	for _, whole := range []bool{true, false} {
		if err := check(whole, sent); err != nil {
			t.Error(err)
		}
		for name, b := range map[string][]byte{"cut": sent[:length-1], "longer": append(slices.Clone(sent), 0), "swapped": swapped, "missing": missing} {
			if check(whole, b) == nil {
				t.Errorf("%s, whole %v: no error", name, whole)
			}
		}
	}
	if check(true, flipped) == nil {
		t.Error("a byte is another one: no error")
	}
	if payload.Same(flipped, sent) == nil || payload.Same(sent[1:], sent) == nil {
		t.Error("other messages are the same")
	}
}
