package pingpong

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

func FuzzParams(f *testing.F) {
	f.Add(appendParams(nil, &Plan{Lengths: []int{0, 8}}))
	f.Add(appendParams(nil, &Plan{Lengths: []int{MaxLength}, Window: 64, Posted: 3, Unexpected: 4, Sync: true, Alloc: true, Verify: true}))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := parseParams(b)
		if err != nil {
			return
		}
		if err := p.Check(); err != nil {
			t.Errorf("accepted a plan that can't be: %v", err)
		}
		if again, err := parseParams(appendParams(nil, &p)); err != nil || !reflect.DeepEqual(again, p) {
			t.Errorf("%+v came back as %+v, %v", p, again, err)
		}
	})
}

func FuzzOrder(f *testing.F) {
	f.Add(order{orderRun, 8, 1000}.append(nil), 8)
	f.Add(order{kind: orderFinish}.append(nil), 0)
	f.Fuzz(func(t *testing.T, b []byte, longest int) {
		if longest < 0 || longest > MaxLength {
			return
		}
		o, err := parseOrder(b, longest)
		if err != nil {
			return
		}
		if o.length < 0 || o.length > longest || o.count < 0 || o.count > MaxCount {
			t.Errorf("accepted %+v where %d is the longest", o, longest)
		}
		if string(o.append(nil)) != string(b) {
			t.Errorf("%x came back as %x", b, o.append(nil))
		}
	})
}

func TestParamsOfStrangers(t *testing.T) {
	good := appendParams(nil, &Plan{Lengths: []int{8}})
	newer := append([]byte(nil), good...)
	newer[7]++
	for name, b := range map[string][]byte{"empty": nil, "short": good[:len(good)-1], "magic": append([]byte("HTTP"), good[4:]...), "version": newer} {
		if _, err := parseParams(b); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if _, err := parseParams(newer); err == nil || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("another version: %v", err)
	}
}

func TestAnswers(t *testing.T) {
	for _, a := range []answer{{}, {value: 0.25}, {failure: "no memory"}, {failure: "byte 3", corrupt: true}} {
		got, err := parseAnswer(a.append(nil))
		if err != nil || got != a {
			t.Errorf("%+v came back as %+v, %v", a, got, err)
		}
		if bad := got.err(); (bad != nil) != (a.failure != "") || errors.Is(bad, ErrCorrupt) != a.corrupt {
			t.Errorf("%+v is the error %v", a, bad)
		}
	}
	if long := (answer{failure: strings.Repeat("x", 9999)}).append(nil); len(long) > controlMax {
		t.Errorf("%d bytes don't fit", len(long))
	}
}
