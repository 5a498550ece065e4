//go:build linux

package shm

import "testing"

// TestOneDescriptorForAllBlocks: the arena has one descriptor, however often all blocks are freed and others made.
func TestOneDescriptorForAllBlocks(t *testing.T) {
	makeAndFree := func(n int) {
		b, err := Alloc(n)
		if err != nil {
			t.Skip("no shared memory here:", err)
		}
		if err := Free(b); err != nil {
			t.Fatal(err)
		}
	}
	makeAndFree(1)
	before := descriptors(t)
	for n := range 100 {
		makeAndFree(1 + n<<16)
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors with an arena, and %d when blocks were made and freed", before, after)
	}
}
