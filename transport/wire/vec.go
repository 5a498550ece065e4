package wire

// Vec is a gather or scatter list: the bytes of First, then those of each slice
// of Rest. The usual message has one segment and an empty Rest.
type Vec struct {
	First []byte
	Rest  [][]byte
}

// Len returns the number of bytes in the list.
func (v *Vec) Len() int {
	n := len(v.First)
	for _, s := range v.Rest {
		n += len(s)
	}
	return n
}

// Gather copies bytes of the list, from off on, into dst and returns how many
// there were: len(dst) unless the list ends before.
func (v *Vec) Gather(dst []byte, off int) int {
	if off <= len(v.First) {
		if n := copy(dst, v.First[off:]); n == len(dst) || len(v.Rest) == 0 {
			return n
		}
	}
	return v.transfer(dst, off, func(seg, part []byte) int { return copy(part, seg) })
}

// Scatter copies src into the list from off on and returns how many bytes found
// room.
func (v *Vec) Scatter(off int, src []byte) int {
	if off <= len(v.First) {
		if n := copy(v.First[off:], src); n == len(src) || len(v.Rest) == 0 {
			return n
		}
	}
	return v.transfer(src, off, func(seg, part []byte) int { return copy(seg, part) })
}

func (v *Vec) transfer(flat []byte, off int, move func(seg, part []byte) int) int {
	done := 0
	for i := -1; i < len(v.Rest) && done < len(flat); i++ {
		seg := v.First
		if i >= 0 {
			seg = v.Rest[i]
		}
		if off >= len(seg) {
			off -= len(seg)
			continue
		}
		done += move(seg[off:], flat[done:])
		off = 0
	}
	return done
}

// Segments returns how many segments the list has, First included.
func (v *Vec) Segments() int { return 1 + len(v.Rest) }

// Segment returns segment i, 0 being First.
func (v *Vec) Segment(i int) []byte {
	if i == 0 {
		return v.First
	}
	return v.Rest[i-1]
}

// Copy moves up to n bytes from src to dst, whose segments may be cut
// differently, and returns how many were moved.
func Copy(dst, src *Vec, n int) int {
	done := 0
	for i := 0; i < src.Segments() && done < n; i++ {
		seg := src.Segment(i)
		seg = seg[:min(len(seg), n-done)]
		moved := dst.Scatter(done, seg)
		done += moved
		if moved < len(seg) {
			break
		}
	}
	return done
}
