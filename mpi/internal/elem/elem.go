package elem

import (
	"reflect"
	"sync/atomic"
	"unsafe"
)

// Size returns the bytes of an element.
func Size[T any]() int {
	var t T
	return int(unsafe.Sizeof(t))
}

// Bytes returns the memory of s. False: T contains pointers, or is empty, so that s
// does not consist of bytes. Safe from any goroutine.
func Bytes[T any](s []T) ([]byte, bool) {
	if !Seen[T]() && !Plain[T]() {
		return nil, false
	}
	return Memory(s), true
}

// Seen reports whether T is known to be plain, for callers whose other way asks Bytes. The compiler inlines it, unlike that.
func Seen[T any]() bool {
	var p any = (*T)(nil)
	t := *(*uintptr)(unsafe.Pointer(&p))
	return atomic.LoadUintptr(&seen[uint8(t>>5^t>>13)]) == t // slotOf, which the compiler would call here
}

// Memory is Bytes of a type that is known to be plain.
func Memory[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*Size[T]())
}

// Of returns b as elements. False: b is not aligned as T is, or T is not plain. Bytes behind
// the last whole element are left out.
func Of[T any](b []byte) ([]T, bool) {
	var t T
	at := unsafe.Pointer(unsafe.SliceData(b))
	if !Plain[T]() || uintptr(at)%unsafe.Alignof(t) != 0 {
		return nil, false
	}
	return Elements[T](b), true
}

// Elements is Of bytes that are aligned, and of a type that is known to be plain.
func Elements[T any](b []byte) []T {
	if len(b) < Size[T]() {
		return nil // there may be less behind it than an element, which checkptr does not let pass
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/Size[T]())
}

// Same reports whether two slices begin at the same place.
func Same[T, U any](a []T, b []U) bool {
	return unsafe.Pointer(unsafe.SliceData(a)) == unsafe.Pointer(unsafe.SliceData(b))
}

// Overlap reports whether two slices share memory.
func Overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	from, to := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return from < to+uintptr(len(b)) && to < from+uintptr(len(a))
}

// seen holds the types that were found plain, each in the slot that its descriptor's
// address leads to. Descriptors are not moved, and those of type parameters are part of
// the program.
var seen [256]uintptr

// Plain reports whether T has no pointers and at least one byte, so that its bytes are all
// there is to it. It costs a nanosecond.
func Plain[T any]() bool {
	return Seen[T]() || examine[T](descriptor[T]())
}

// descriptor returns the address of the descriptor of *T.
func descriptor[T any]() uintptr {
	var p any = (*T)(nil)
	return *(*uintptr)(unsafe.Pointer(&p))
}

func slotOf(t uintptr) uint8 { return uint8(t>>5 ^ t>>13) }

//go:noinline
func examine[T any](t uintptr) bool {
	if Size[T]() == 0 || !plain(reflect.TypeFor[T]()) {
		return false
	}
	atomic.StoreUintptr(&seen[slotOf(t)], t)
	return true
}

func plain(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return true
	case reflect.Array:
		return t.Len() == 0 || plain(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !plain(t.Field(i).Type) {
				return false
			}
		}
		return true
	}
	return false
}

// ToLine returns how many bytes of b come before the first address that is a multiple of
// align.
func ToLine(b []byte, align int) int {
	return int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & uintptr(align-1))
}
