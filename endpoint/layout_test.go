package endpoint

import (
	"testing"
	"unsafe"
)

func TestRequestsFillCacheLines(t *testing.T) {
	if size := unsafe.Sizeof(request{}); size%64 != 0 {
		t.Errorf("a request is %d bytes, no whole number of cache lines", size)
	}
	if end := unsafe.Offsetof(request{}.vec) + unsafe.Sizeof([]byte(nil)); end != 64 && unsafe.Sizeof(uintptr(0)) == 8 {
		t.Errorf("what every message touches ends at byte %d, not in the first line", end)
	}
}
