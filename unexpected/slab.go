package unexpected

import "math/bits"

const (
	chunkBits = 6 // messages in a chunk: 64
	chunkMask = 1<<chunkBits - 1

	none int32 = 0 // no message; id 0 is never given out
)

// These are the classes of buffers. An entry of class 0 has no buffer. The buffers of a class c up to pooled
// have 64<<(c-1) bytes. A buffer of class unpooled is made for its message and dropped with it.
const (
	smallest  = 64
	pooled    = 11 // 64 KiB
	unpooled  = pooled + 1
	pageBytes = 8 << 10 // the footprint of an unpooled buffer is whole pages
)

// entry holds one message, or is free.
type entry struct {
	message Message
	next    int32 // in order of arrival, among the claimed messages, or among the free entries of the class
	prev    int32
	cost    int    // footprint
	number  uint64 // of the messages of the store, from 1 on; 0 unless it is in the order of arrival
	class   uint8
	claimed bool
}

// slab owns all entries and their buffers. Entries lie in chunks, which never
// move. A free entry keeps its buffer and is in the list of its class.
type slab struct {
	chunks []*[1 << chunkBits]entry
	used   int32 // entries ever taken, and so the largest id
	free   [pooled + 1]int32
	spare  int // bytes of buffers in free entries
}

func (b *slab) at(id int32) *entry {
	return &b.chunks[uint32(id)>>chunkBits][id&chunkMask]
}

func classOf(size int) int {
	if size == 0 {
		return 0
	}
	return min(bits.Len(uint(size-1)/smallest)+1, unpooled)
}

// sizeOf is the length of the buffers of a pooled class.
func sizeOf(class int) int {
	if class == 0 {
		return 0
	}
	return smallest << (class - 1)
}

func footprint(size int) int {
	class := classOf(size)
	if class == unpooled {
		return Overhead + (size+pageBytes-1)&^(pageBytes-1)
	}
	return Overhead + sizeOf(class)
}

// take returns a free entry whose Data has size bytes.
func (b *slab) take(size int) (int32, *entry) {
	class := classOf(size)
	if class <= pooled && b.free[class] != none {
		id := b.free[class]
		at := b.at(id)
		b.free[class] = at.next
		b.spare -= sizeOf(class)
		at.message.Data = at.message.Data[:size]
		return id, at
	}
	return b.takeBare(class, size)
}

// takeBare finds an entry without a buffer, or a new one, and makes its buffer.
func (b *slab) takeBare(class, size int) (int32, *entry) {
	var data []byte
	switch {
	case class == unpooled:
		data = make([]byte, size)
	case class > 0:
		data = make([]byte, sizeOf(class))[:size]
	}
	id := b.free[0]
	if id != none {
		b.free[0] = b.at(id).next
	} else {
		b.used++
		id = b.used
		if int(id)>>chunkBits == len(b.chunks) {
			b.chunks = append(b.chunks, new([1 << chunkBits]entry))
		}
	}
	at := b.at(id)
	at.message.Data = data
	at.class = uint8(class)
	return id, at
}

// give frees an entry. The entry keeps its buffer if at most limit bytes of buffers
// are spare then. To make room, give drops spare buffers of other classes, so that
// the sizes of spare buffers follow those in use.
func (b *slab) give(id int32, limit int) {
	at := b.at(id)
	class := int(at.class)
	switch {
	case class == 0:
	case class == unpooled, cap(at.message.Data) != sizeOf(class):
		class = 0
	case b.spare+sizeOf(class) > limit && !b.evict(class, limit):
		class = 0
	}
	if class == 0 {
		at.message.Data = nil
		at.class = 0
	}
	b.spare += sizeOf(class)
	at.next = b.free[class]
	b.free[class] = id
}

// evict drops spare buffers of the classes other than class until one more of
// its buffers fits, and reports whether that was enough.
func (b *slab) evict(class, limit int) bool {
	size := sizeOf(class)
	if size > limit {
		return false
	}
	for other := pooled; other > 0 && b.spare+size > limit; other-- {
		if other != class {
			b.dropSpares(other, limit-size)
		}
	}
	return b.spare+size <= limit
}

// trim drops spare buffers, large ones first, down to limit bytes.
func (b *slab) trim(limit int) {
	for class := pooled; class > 0; class-- {
		b.dropSpares(class, limit)
	}
}

// dropSpares drops buffers of free entries of one class until at most limit bytes
// are spare.
func (b *slab) dropSpares(class, limit int) {
	for b.spare > limit && b.free[class] != none {
		id := b.free[class]
		at := b.at(id)
		b.free[class] = at.next
		b.spare -= sizeOf(class)
		at.message.Data, at.class = nil, 0
		at.next = b.free[0]
		b.free[0] = id
	}
}
