package unexpected_test

import (
	"slices"
	"testing"

	"gomx/match"
)

func fuzzValue(b byte) uint64 { return uint64(b&7)<<60 | uint64(b>>3&7) }

func fuzzMask(b byte) uint64 {
	if b >= 128 {
		return uint64(b)<<56 | uint64(b)
	}
	masks := [...]uint64{match.MaskNone, 0, 7, 7 << 60, 1<<60 | 1, match.MaskNone &^ 1}
	return masks[int(b)%len(masks)]
}

func FuzzStore(f *testing.F) {
	f.Add([]byte{0, 1, 3, 1, 1, 0, 0, 2, 9, 2, 0, 1})
	f.Add(slices.Repeat([]byte{0, 1, 3, 7, 9, 200, 0, 8, 0}, 30))
	f.Add(slices.Repeat([]byte{0, 1, 255, 0, 2, 100, 6, 1, 0}, 30))
	f.Add(append(slices.Repeat([]byte{7, 1, 1}, 5), slices.Repeat([]byte{1, 2, 2, 2, 3, 3}, 10)...))
	f.Add(append(slices.Repeat([]byte{7, 1, 9}, 8), slices.Repeat([]byte{8, 1, 2, 8, 0, 1, 0, 3, 7, 9, 5, 0}, 20)...))
	f.Fuzz(func(t *testing.T, ops []byte) {
		p := newPair(t, 64<<10)
		for ; len(ops) >= 3; ops = ops[3:] {
			a, b := ops[1], ops[2]
			switch ops[0] % 10 {
			case 0:
				p.add(fuzzValue(a), int32(a%4), int(b)*int(b)*2)
			case 1:
				p.receive(fuzzValue(a)&fuzzMask(b), fuzzMask(b))
			case 2:
				p.find(fuzzValue(a), fuzzMask(b))
			case 3:
				p.receive(fuzzValue(a), match.MaskNone)
			case 4:
				p.remove(int32(a))
			case 5:
				p.removePeer(int32(a % 4))
			case 6:
				p.setLimit(int(b) << 10)
			case 8:
				p.claim(fuzzValue(a)&fuzzMask(b), fuzzMask(b))
			case 9:
				p.redeem(int(a))
			case 7: // many at once, so that short inputs make a deep store
				for i := range b % 64 {
					p.add(fuzzValue(a+i), int32(i%4), int(i)&1*8)
				}
			}
		}
		p.check()
		p.drain()
	})
}
