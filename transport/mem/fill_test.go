package mem

import (
	"testing"
	"unsafe"
)

func TestFilledCacheLines(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("the sizes are those of 64 bits")
	}
	for name, size := range map[string]uintptr{"port": unsafe.Sizeof(Port{}), "lane": unsafe.Sizeof(lane{}), "frame": unsafe.Sizeof(frame{}),
		"place for used frames": leastSpare * unsafe.Sizeof((*frame)(nil))} {
		if size%cacheLine != 0 {
			t.Errorf("a %s is %d bytes, no whole number of cache lines", name, size)
		}
	}
}
