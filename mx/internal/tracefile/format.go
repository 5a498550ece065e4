package tracefile

import (
	"math/bits"
	"unsafe"

	"gomx/endpoint"
)

// The file has a head, then the names of regions, then events. All numbers are in the order of bytes of the machine that wrote it.
const (
	headBytes  = 4096
	infoBytes  = headBytes - int(unsafe.Sizeof(head{}))
	namesBytes = 64 << 10
	ringAt     = headBytes + namesBytes

	eventBytes = int(unsafe.Sizeof(endpoint.Event{}))
)

// magic is the first word; its last digit is the version of the format.
const magic uint64 = 0x676f6d7874726302

// Suffix ends the names of trace files.
const Suffix = ".mxtrace"

// LeastBytes is the smallest ring.
const LeastBytes = 4096

// reading is two clocks at one time.
type reading struct {
	Ticks       int64 // of the clock of the events
	Nanoseconds int64
}

// head is what changes of the description, and what reading the file takes.
type head struct {
	Magic    uint64
	Count    uint64     // events that were recorded
	Events   uint64     // places of the ring
	Clock    [2]reading // at the beginning, and as late as possible
	Began    int64      // wall clock, nanoseconds since 1970
	Job      uint64     // 0: not known
	Rank     int32      // -1: not known
	Ranks    int32
	Closed   uint32 // 1: the endpoint was closed
	Size     uint32 // of an event
	InfoLen  uint32
	NamesLen uint32 // of the names, each with a zero byte behind it
}

// Info describes an endpoint and its process.
type Info struct {
	Host       string   `json:"host"`
	Command    string   `json:"command"`
	PID        int      `json:"pid"`
	Endpoint   string   `json:"endpoint"` // as String of an endpoint has it
	NIC        uint64   `json:"nic"`
	ID         uint32   `json:"id"`
	Transports []string `json:"transports"`
	Clock      string   `json:"clock"` // those with the same one can be compared
	MX         string   `json:"mx"`    // version
}

// ringLen returns how many events a ring of so many bytes has: a power of two.
func ringLen(size int) int { return 1 << (bits.Len(uint(max(size, LeastBytes)/eventBytes)) - 1) }
