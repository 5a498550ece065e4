//go:build !race

package bulk

import "golang.org/x/sys/cpu"

// stringCopy says that this processor's string copy moves whole lines.
var stringCopy = cpu.X86.HasERMS

// move copies n bytes, from the first to the last.
//
//go:noescape
func move(dst, src *byte, n int)
