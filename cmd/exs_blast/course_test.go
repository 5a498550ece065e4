package main

import (
	"errors"
	"testing"
)

func TestVerifySeesChanges(t *testing.T) {
	for _, n := range []int{1, 7, 8, 9, 300, 5000} {
		b := make([]byte, n)
		for number := range 3 {
			stamp(b, number)
			if err := verify(b, number); err != nil {
				t.Errorf("%d bytes: %v", n, err)
			}
			if err := verify(b, number+1); !errors.Is(err, errCorrupt) {
				t.Errorf("%d bytes of another message: %v", n, err)
			}
			for i := range b {
				b[i] ^= 0x10
				if err := verify(b, number); !errors.Is(err, errCorrupt) {
					t.Errorf("%d bytes, byte %d changed: %v", n, i, err)
				}
				b[i] ^= 0x10
			}
		}
	}
}

func TestOrdersThatMakeNoSense(t *testing.T) {
	good := order{Mode: modeNormal, Type: typeStream, Length: 100, InFlight: 8}
	if err := good.check(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*order){
		"mode":      func(o *order) { o.Mode = "x" },
		"unbuilt":   func(o *order) { o.Mode = modeInPlace },
		"type":      func(o *order) { o.Type = "" },
		"small":     func(o *order) { o.Mode = modeSmall },
		"no bytes":  func(o *order) { o.Length = 0 },
		"too much":  func(o *order) { o.Length = mostBytes / 2 },
		"in flight": func(o *order) { o.InFlight = mostInFlight + 1 },
	} {
		o := good
		spoil(&o)
		if o.check() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
