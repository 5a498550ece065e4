//go:build linux

package segment

import "unsafe"

// Word32 returns the 32-bit word at off in b for use with sync/atomic. It
// reports false if the word is not wholly inside b or not aligned to 4 bytes.
func Word32(b []byte, off int) (w *uint32, ok bool) {
	if !fits(b, off, 4) {
		return nil, false
	}
	return (*uint32)(unsafe.Pointer(&b[off])), true
}

// Word64 is Word32 for 64-bit words aligned to 8 bytes.
func Word64(b []byte, off int) (w *uint64, ok bool) {
	if !fits(b, off, 8) {
		return nil, false
	}
	return (*uint64)(unsafe.Pointer(&b[off])), true
}

func fits(b []byte, off, size int) bool {
	return off >= 0 && len(b) >= size && off <= len(b)-size && (address(b)+uintptr(off))%uintptr(size) == 0
}
