// Package arena hands out pieces of a shared arena as offsets. It never touches
// the arena's memory: it has no pointers into it and keeps nothing in it, so a
// peer that scribbles over the arena can't lead the allocator astray.
//
// Blocks above 2 KiB are runs of whole pages, taken from the lowest hole that
// fits; neighbouring holes are joined at once. Smaller blocks come in size
// classes, cut from slabs of 64 KiB that go back to the pages when their last
// block is freed. Where no slab fits any more, a small block gets a page.
//
// All methods of an [Allocator] may be called at once from any goroutine.
//
// A caller that gives freed pages back to the system must do so before Free, by
// Size, or under a lock that also covers Alloc: after Free the pages may already
// be somebody else's. Blocks smaller than a page never own a whole one.
//
// Memory order is no matter here: the allocator's own state is under its lock, and
// who gives an offset to another process does so through a ring, whose order the
// bytes at that offset follow.
//
// Where to read next: arena.go for the rules, pages.go for runs and holes,
// slab.go for small blocks.
package arena
