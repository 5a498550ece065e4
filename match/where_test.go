package match_test

import (
	"math/rand/v2"
	"testing"

	"gomx/match"
)

// TestWhere compares FindWhere and ArriveWhere, at any depth, with a walk through the receives in the order of posting.
func TestWhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	masks := []uint64{match.MaskNone, 0xf0, 0x0f, 0}
	for round := range 200 {
		var table match.Table
		var posted []twinReceive
		most := 1 + rng.IntN(200)
		for next := int32(0); next < 600; next++ {
			if mask := masks[rng.IntN(len(masks))]; len(posted) < most {
				value, stays := uint64(rng.IntN(256))&mask, rng.IntN(50) == 0
				if stays {
					table.PostMany(next, value, mask)
				} else {
					table.Post(next, value, mask)
				}
				posted = append(posted, twinReceive{next, value, mask, stays})
			}
			incoming, kind := uint64(rng.IntN(256)), int32(rng.IntN(3))
			takes := func(id int32) bool { return id%3 == kind }
			want := -1
			for i, r := range posted {
				if match.Matches(incoming, r.value, r.mask) && takes(r.id) {
					want = i
					break
				}
			}
			id, ok := table.FindWhere(incoming, takes)
			if ok != (want >= 0) || ok && posted[want].id != id {
				t.Fatalf("round %d: receive %d, %v", round, id, ok)
			}
			if rng.IntN(2) == 0 {
				if again, found := table.ArriveWhere(incoming, takes); again != id || found != ok {
					t.Fatalf("round %d: FindWhere gives %d, %v, and ArriveWhere %d, %v", round, id, ok, again, found)
				}
				if ok && !posted[want].stays {
					posted = append(posted[:want], posted[want+1:]...)
				}
			}
			if table.Len() != len(posted) {
				t.Fatalf("round %d: %d receives, want %d", round, table.Len(), len(posted))
			}
		}
	}
}
