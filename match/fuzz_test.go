package match_test

import (
	"slices"
	"testing"

	"gomx/match"
)

// few values and masks that overlap, so that short inputs make them collide
func fuzzValue(b byte) uint64 { return uint64(b&7)<<60 | uint64(b>>3&7) }

func fuzzMask(b byte) uint64 {
	masks := [...]uint64{match.MaskNone, 0, 7, 7 << 60, 1<<60 | 1, match.MaskNone &^ 1}
	if b < 128 {
		return masks[int(b)%len(masks)]
	}
	return uint64(b)<<56 | uint64(b)
}

func FuzzTable(f *testing.F) {
	f.Add([]byte{0, 1, 0, 1, 1, 0, 2, 0, 0})
	f.Add(slices.Repeat([]byte{0, 9, 2, 0, 9, 0}, 12))
	f.Add(slices.Repeat([]byte{0, 1, 200, 0, 1, 130, 1, 9, 0, 2, 3, 0}, 12))
	f.Fuzz(func(t *testing.T, ops []byte) {
		var p pair
		for len(ops) >= 3 {
			op, a, b := ops[0], ops[1], ops[2]
			ops = ops[3:]
			switch op % 4 {
			case 0:
				p.post(fuzzValue(a), fuzzMask(b))
			case 3:
				p.postMany(fuzzValue(a), fuzzMask(b))
			case 1:
				p.arrive(t, fuzzValue(a))
			case 2:
				p.cancel(t, int32(a)-1)
			}
		}
		p.check(t)
		p.drain(t)
	})
}

func FuzzIndex(f *testing.F) {
	f.Add([]byte{0, 1, 0, 2, 1, 1})
	f.Add(slices.Repeat([]byte{0, 1, 0, 2, 0, 3, 2, 1, 3, 0}, 20))
	f.Fuzz(func(t *testing.T, ops []byte) {
		var x match.Index
		queues := map[uint64][]int32{}
		under := map[int32]uint64{}
		for ; len(ops) >= 2; ops = ops[2:] {
			id, value := int32(ops[1]), fuzzValue(ops[1]*7+ops[0])
			queue := queues[value]
			switch ops[0] % 4 {
			case 0:
				if _, in := under[id]; !in {
					x.Add(value, id)
					queues[value] = append(queue, id)
					under[id] = value
				}
			case 1:
				got, ok := x.First(value)
				if ok != (len(queue) > 0) || ok && got != queue[0] {
					t.Fatalf("First(%#x) = %d, %v; want the first of %v", value, got, ok, queue)
				}
			case 2:
				got, ok := x.Pop(value)
				if ok != (len(queue) > 0) || ok && got != queue[0] {
					t.Fatalf("Pop(%#x) = %d, %v; want the first of %v", value, got, ok, queue)
				}
				if ok {
					queues[value] = queue[1:]
					delete(under, got)
				}
			case 3:
				value, in := under[id]
				if got := x.Remove(id); got != in {
					t.Fatalf("Remove(%d) = %v, want %v", id, got, in)
				}
				if in {
					i := slices.Index(queues[value], id)
					queues[value] = slices.Delete(queues[value], i, i+1)
					delete(under, id)
				}
			}
		}
		if err := match.CheckIndex(&x); err != nil || x.Len() != len(under) {
			t.Fatalf("%v; Len() = %d, want %d", err, x.Len(), len(under))
		}
	})
}
