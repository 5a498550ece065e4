package positive

import "testing"

func TestValues(t *testing.T) {
	var v value
	if err := v.Set("12"); err != nil || v != 12 || v.String() != "12" {
		t.Errorf("12 makes %v, %v", v, err)
	}
	for _, s := range []string{"", "0", "-1", "x", "1.5"} {
		if v.Set(s) == nil {
			t.Errorf("%q is taken", s)
		}
	}
}
