package pingpong

import (
	"slices"
	"testing"
)

func TestCoreList(t *testing.T) {
	if got, err := parseCoreList("0,4-6"); err != nil || !slices.Equal(got, []int{0, 4, 5, 6}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "a", "1-", "0,,2"} {
		if got, err := parseCoreList(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestTwoCores(t *testing.T) {
	cores := TwoCores()
	if cores == nil {
		t.Skip("this process may not use two cores, or the system can't bind to them")
	}
	if len(cores) != 2 || cores[0] == cores[1] {
		t.Errorf("%v are not two cores", cores)
	}
	if err := CheckCores(cores); err != nil {
		t.Error(err)
	}
	if err := CheckCores([]int{cores[0], 5000}); err == nil {
		t.Error("core 5000: no error")
	}
}
