package main

import (
	"fmt"
	"io"
)

// Kinds of files, as their modes have them.
const (
	modeFolder = 0o040000
	modeFile   = 0o100000
	modeLink   = 0o120000
	modeDevice = 0o020000 // of characters
)

// archive writes cpio in the format "newc", which the kernel unpacks. The first
// error stays.
type archive struct {
	w     io.Writer
	inode int
	err   error
}

// entry is one file. Names have no slash at the beginning.
type entry struct {
	name         string
	mode         int // kind and permissions
	size         int64
	major, minor int // of the device that it is
}

// add writes an entry and its contents, which must be of the entry's size.
func (a *archive) add(e entry, contents io.Reader) {
	a.inode++
	const links, sum = 1, 0
	const user, group, time, onMajor, onMinor = 0, 0, 0, 0, 0
	a.print("070701")
	for _, field := range []int64{
		int64(a.inode), int64(e.mode), user, group, links, time, e.size, onMajor, onMinor,
		int64(e.major), int64(e.minor), int64(len(e.name) + 1), sum,
	} {
		a.print("%08X", field)
	}
	a.print("%s\x00", e.name)
	a.pad(110 + int64(len(e.name)+1))
	if a.err == nil && contents != nil {
		var n int64
		if n, a.err = io.Copy(a.w, contents); a.err == nil && n != e.size {
			a.err = fmt.Errorf("%s has %d bytes, not %d", e.name, n, e.size)
		}
	}
	a.pad(e.size)
}

// finish writes what ends an archive.
func (a *archive) finish() error {
	a.add(entry{name: "TRAILER!!!"}, nil)
	return a.err
}

// pad goes on to the next multiple of 4.
func (a *archive) pad(written int64) {
	a.print("%s", "\x00\x00\x00"[:-written&3])
}

func (a *archive) print(format string, args ...any) {
	if a.err == nil {
		_, a.err = fmt.Fprintf(a.w, format, args...)
	}
}
