package mx

import "testing"

// An endpoint that takes any id tries few, however many are taken.
func TestAnyEndpointTriesFewIDs(t *testing.T) {
	const rounds = 200
	for _, open := range []uint32{0, 1, 100, 1000, 2000} {
		tries := 0
		for range rounds {
			for id := range anyIDs(MaxEndpoints - 1) {
				if tries++; id >= open {
					break
				}
			}
		}
		if most := 14 * rounds; tries > most {
			t.Errorf("with %d endpoints open: %d ids tried in %d searches", open, tries, rounds)
		}
	}
}

func TestAnyEndpointIsASmallOne(t *testing.T) {
	for open := range uint32(idsInOrder) {
		for id := range anyIDs(MaxEndpoints - 1) {
			if id >= open {
				if id != open {
					t.Errorf("endpoint %d, and %d are taken", id, open)
				}
				break
			}
		}
	}
}

func TestAnyEndpointTriesEachID(t *testing.T) {
	for _, last := range []uint32{0, 1, 3, 4, 15, 16, 17, 999, MaxEndpoints - 1} {
		tried := map[uint32]bool{}
		for id := range anyIDs(last) {
			if id > last {
				t.Fatalf("id %d of %d", id, last)
			}
			tried[id] = true
		}
		if len(tried) != int(last)+1 {
			t.Errorf("%d ids of %d are tried", len(tried), last+1)
		}
	}
}
