// Package tracefile is the file of a message trace: what describes the endpoint, and a ring of its latest events. An
// endpoint writes the file by writing to memory that is mapped from it, so that nothing is lost when the process is killed:
// the kernel has the pages.
//
// It relies on this. All of the file is written before it is mapped, so that a full disk is an error of Create and not a
// signal later; whoever truncates the file of a running process kills that process. Events and the head have no pointers and no padding,
// and begin on multiples of 64 bytes; pages are aligned, and a slice of events is made of exactly the bytes behind
// the names. The memory is good until Close, before which its owner has taken the recorder from the engine. Nobody reads the
// mapped memory but the process itself: readers read the file, check what they find, and drop events that were being written.
package tracefile
