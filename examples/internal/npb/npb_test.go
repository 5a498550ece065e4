package npb

import (
	"errors"
	"math/big"
	"strings"
	"testing"
)

func TestRandomIsThePublishedGenerator(t *testing.T) {
	r, want := Random(314159265), big.NewInt(314159265)
	for i := range 1000 {
		want.Mul(want, big.NewInt(1220703125))
		want.Mod(want, big.NewInt(1<<46))
		got := r.Next()
		if exact, _ := new(big.Rat).SetFrac(want, big.NewInt(1<<46)).Float64(); got != exact {
			t.Fatalf("number %d is %v, want %v", i, got, exact)
		}
	}
}

func TestSkip(t *testing.T) {
	for _, n := range []uint64{0, 1, 2, 3, 100, 1023} {
		a, b := Random(271828183), Random(271828183)
		a.Skip(n)
		for range n {
			b.Next()
		}
		if a != b {
			t.Errorf("%d skipped lead to %d, %d made to %d", n, a, n, b)
		}
	}
}

func TestClass(t *testing.T) {
	var c Class
	for _, s := range []string{"S", "w", "A"} {
		if err := c.Set(s); err != nil || c.String() != strings.ToUpper(s) {
			t.Errorf("%q makes %q, %v", s, c, err)
		}
	}
	for _, s := range []string{"", "X", "SW", "ß"} {
		if c.Set(s) == nil {
			t.Errorf("%q is taken for a class", s)
		}
	}
}

func TestFailedVerification(t *testing.T) {
	var b strings.Builder
	err := Result{Kernel: "EP", Class: "S", Seconds: 1}.print(&b, 2)
	if !errors.Is(err, ErrVerification) || !strings.Contains(b.String(), "Verification failed") {
		t.Errorf("error %v, output\n%s", err, &b)
	}
}
