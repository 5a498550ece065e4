//go:build linux

package bell

import (
	"encoding/binary"
	"fmt"

	"gomx/transport/internal/segment"
)

// The control page:
//
//	0       4         8       12              64        68          128
//	+-------+---------+-------+---- - - - ----+--------+--- - - - ---+--
//	| magic | version | flags | 0             |  word  | 0           |
const (
	pageSize    = 4096
	pageMagic   = 0x6c6c6562 // "bell"
	pageVersion = 1
	wordOffset  = 64

	flagFenced = 1 // senders must fence before they look at the word
)

// What the word holds besides 0, awake.
const (
	wayFutex   = 1
	wayEvent   = 2
	ways       = 3
	ringing    = 4
	generation = 8
)

func writePage(page []byte, fenced bool) {
	binary.NativeEndian.PutUint32(page, pageMagic)
	binary.NativeEndian.PutUint32(page[4:], pageVersion)
	if fenced {
		binary.NativeEndian.PutUint32(page[8:], flagFenced)
	}
}

func readPage(page []byte) (fenced bool, err error) {
	magic, version := binary.NativeEndian.Uint32(page), binary.NativeEndian.Uint32(page[4:])
	if magic != pageMagic || version != pageVersion {
		return false, fmt.Errorf("no bell page: magic %#x, version %d", magic, version)
	}
	return binary.NativeEndian.Uint32(page[8:])&flagFenced != 0, nil
}

// word returns the bell's word. The page is a whole one and wordOffset aligned.
func word(page *segment.Mem) *uint32 {
	w, _ := segment.Word32(page.Bytes(), wordOffset)
	return w
}
