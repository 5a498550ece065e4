package variables

import (
	"slices"
	"testing"
)

func TestStrangers(t *testing.T) {
	known := []string{"XY_SPIN", "XY_EAGER", "XY_TRANSPORT", "XY_RANK", "XY_ROOT"}
	environment := []string{"HOME=/root", "XY_SPIN=1", "XY_SPINN=0", "XY_TRANSPROT=shm", "XY_FLAVOUR=mint", "XXY_RANK=1", "xy_rank=1", "XY_EAGR"}
	want := []Stranger{{"XY_SPINN", "XY_SPIN"}, {"XY_TRANSPROT", "XY_TRANSPORT"}, {"XY_FLAVOUR", ""}, {"XY_EAGR", "XY_EAGER"}}
	if got := Strangers(environment, "XY_", known); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
