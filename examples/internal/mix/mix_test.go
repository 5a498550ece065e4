package mix

import "testing"

func TestChecksumKnowsPlaces(t *testing.T) {
	if At(0, 1)+At(1, 2) == At(0, 2)+At(1, 1) {
		t.Error("values that have changed places make the same sum")
	}
	if Bits(1) == Bits(2) || Unit(1) == Unit(2) {
		t.Error("neighbours are equal")
	}
	for i := range uint64(1000) {
		if x := Unit(i); x < 0 || x >= 1 {
			t.Errorf("Unit(%d) = %v", i, x)
		}
	}
}
