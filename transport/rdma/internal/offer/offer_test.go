package offer

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

func sample() Offer {
	return Offer{
		Way: RoCEv2, MTU: 3, ReadsIn: 16, ReadsOut: 4, QP: 0x123456, Packet: 0xfffffe, LID: 0x1b, Slot: 0x2040,
		GID: [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 1}, Credits: 64,
	}
}

// TestGolden: the bytes are fixed. Who changes them changes the version.
func TestGolden(t *testing.T) {
	o := sample()
	const want = "726d" + "01" + "03" + "03" + "10" + "04" + "00" + "56341200" + "feffff00" + "1b00" + "0000" +
		"40200000" + "00000000000000000000ffff0a000001" + "40000000"
	if got := hex.EncodeToString(o.Append(nil)); got != want || len(want) != 2*Size {
		t.Errorf("encoded\n%s, want\n%s", got, want)
	}
	if got, err := Parse(o.Append(nil)); err != nil || got != o {
		t.Errorf("parsed %+v, %v", got, err)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, change := range map[string]func(*Offer){
		"no way": func(o *Offer) { o.Way = 0 }, "an unknown way": func(o *Offer) { o.Way = wayEnd },
		"MTU 0": func(o *Offer) { o.MTU = 0 }, "MTU 6": func(o *Offer) { o.MTU = 6 },
		"too many reads in":  func(o *Offer) { o.ReadsIn = MaxReads + 1 },
		"too many reads out": func(o *Offer) { o.ReadsOut = MaxReads + 1 },
		"queue pair 0":       func(o *Offer) { o.QP = 0 }, "queue pair of 25 bits": func(o *Offer) { o.QP = 1 << 24 },
		"packet number of 25 bits": func(o *Offer) { o.Packet = 1 << 24 },
		"no slot":                  func(o *Offer) { o.Slot = 0 }, "a huge slot": func(o *Offer) { o.Slot = MaxSlot + 1 },
		"no credits": func(o *Offer) { o.Credits = 0 }, "no GID": func(o *Offer) { o.GID = [16]byte{} },
	} {
		o := sample()
		change(&o)
		if got, err := Parse(o.Append(nil)); !errors.Is(err, ErrMalformed) || got != (Offer{}) {
			t.Errorf("%s: parsed as %+v, error %v", name, got, err)
		}
	}
	o := sample()
	good := o.Append(nil)
	for _, c := range []struct {
		name string
		at   int
		err  error
	}{{"other magic", 0, ErrMalformed}, {"other version", 2, ErrUnfit}, {"byte 7", 7, ErrMalformed}, {"byte 18", 18, ErrMalformed}} {
		bad := bytes.Clone(good)
		bad[c.at]++
		if _, err := Parse(bad); !errors.Is(err, c.err) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.err)
		}
	}
	for n := range Size {
		if _, err := Parse(good[:n]); !errors.Is(err, ErrMalformed) {
			t.Errorf("%d bytes: error %v", n, err)
		}
	}
	o = sample()
	o.Way, o.GID = InfiniBand, [16]byte{}
	if _, err := Parse(o.Append(nil)); err != nil {
		t.Errorf("InfiniBand goes by LID, too: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	o := sample()
	f.Add(o.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		o, err := Parse(b)
		if err != nil {
			return
		}
		if again := o.Append(nil); !bytes.Equal(again, b) {
			t.Errorf("%x became %x", b, again)
		}
	})
}

func TestAgree(t *testing.T) {
	a, b := sample(), sample()
	b.MTU, b.ReadsIn, b.ReadsOut = 5, 2, 100
	mine, err := Agree(&a, &b)
	if err != nil || mine != (Terms{MTU: 3, ReadsIn: 16, ReadsOut: 2}) {
		t.Errorf("%+v, %v", mine, err)
	}
	theirs, err := Agree(&b, &a)
	if err != nil || theirs != (Terms{MTU: mine.MTU, ReadsIn: mine.ReadsOut, ReadsOut: mine.ReadsIn}) {
		t.Errorf("one side has %+v, the other %+v, %v", mine, theirs, err)
	}
	b.Way = RoCEv1
	if _, err := Agree(&a, &b); !errors.Is(err, ErrUnfit) || !strings.Contains(err.Error(), "RoCE v1") {
		t.Errorf("different ways: %v", err)
	}
}
