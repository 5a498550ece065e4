//go:build linux && cgo

package verbs

/*
#cgo CFLAGS: -O2 -Wall
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include "library.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"
)

// ErrNoLibrary is what Load returns if there is no libibverbs, or not one that this
// package can use. It comes wrapped with the reason.
var ErrNoLibrary = errors.New("libibverbs can't be loaded")

// Load loads the library, once. Nothing else in this package may be called before
// it has returned nil. It may be called concurrently.
func Load() error { return load() }

var load = sync.OnceValue(func() error {
	if why := C.vb_load(); why != nil {
		return fmt.Errorf("%w: %s", ErrNoLibrary, C.GoString(why))
	}
	return nil
})

// failed is the error of a call that sets errno. Some set none.
func failed(call string, errno error) error {
	if errno == nil {
		return fmt.Errorf("%s failed", call)
	}
	return fmt.Errorf("%s: %w", call, errno)
}

// newArray makes an array that the Go run time knows nothing of: C keeps pointers
// in it. freeArray takes it.
func newArray[T any](n int) []T {
	var zero T
	p := C.calloc(C.size_t(n), C.size_t(unsafe.Sizeof(zero)))
	if p == nil {
		panic("verbs: out of memory")
	}
	return unsafe.Slice((*T)(p), n)
}

func freeArray[T any](a []T) { C.free(unsafe.Pointer(unsafe.SliceData(a))) }

// address returns a pointer to memory of C as a number.
func address[T any](p *T) C.vb_address { return C.vb_address(uintptr(unsafe.Pointer(p))) }
