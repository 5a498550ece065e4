// Package span tells where one piece of memory lies in another.
package span

import "unsafe"

// Within reports whether all bytes of b are bytes of area. No bytes lie anywhere.
func Within(area, b []byte) bool {
	if len(b) == 0 {
		return true
	}
	from, at := uintptr(unsafe.Pointer(unsafe.SliceData(area))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return len(b) <= len(area) && at >= from && at-from <= uintptr(len(area)-len(b))
}
