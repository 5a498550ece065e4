package stream

import (
	"errors"
	"testing"
)

// TestBreachesOfSender gives a Receiver with two adverts outstanding, number 0 and
// 1 of epoch 1 and of 100 bytes, what no Sender would.
func TestBreachesOfSender(t *testing.T) {
	for _, b := range []struct {
		what string
		do   func(r *Receiver) error
		want error
	}{
		{"an empty message", func(r *Receiver) error { return r.Here(false, 0, 0) }, errEmpty},
		{"more than the window", func(r *Receiver) error { return r.Here(false, 0, 101) }, errOverrun},
		{"more than the window, announced", func(r *Receiver) error { return r.Coming(false, 0, 101) }, errOverrun},
		{"an advert used that is none", func(r *Receiver) error { return r.Here(false, 3, 10) }, errUsed},
		{"a direct message for no advert", func(r *Receiver) error { return r.Here(true, 0, 10) }, errNotOffered},
		{"a landing of no advert", func(r *Receiver) error { return r.Landed(2, 10) }, errNotOffered},
		{"a landing without bytes", func(r *Receiver) error { return r.Landed(0, 0) }, errEmpty},
		{"a landing of too many bytes", func(r *Receiver) error { return r.Landed(0, 101) }, errTooLong},
		{"an advert given up after it was used", func(r *Receiver) error { return errors.Join(r.Landed(1, 10), r.Here(false, 1, 10)) }, errVoid},
		{"an advert used after it was given up", func(r *Receiver) error {
			return errors.Join(r.Here(false, 0, 10), r.Unposted(1, false))
		}, errVoid},
		{"the end too early", func(r *Receiver) error { return r.Message(&Message{Kind: Fin, Position: 1}) }, errPosition},
		{"two ends", func(r *Receiver) error {
			return errors.Join(r.Message(&Message{Kind: Fin}), r.Message(&Message{Kind: Fin}))
		}, errAfterEnd},
		{"bytes behind the end", func(r *Receiver) error {
			return errors.Join(r.Message(&Message{Kind: Fin}), r.Here(false, 0, 10))
		}, errAfterEnd},
		{"an answer to nothing", func(r *Receiver) error { return r.Message(&Message{Kind: Withdrawn, Epoch: 1}) }, errAnswer},
		{"a fetch of nothing", func(r *Receiver) error { return r.Fetched(1) }, errTicket},
		{"a message for the Sender", func(r *Receiver) error { return r.Message(&Message{Kind: Ack}) }, errEnd},
		{"an advert passed over", func(r *Receiver) error {
			r.Cancel(1)
			return errors.Join(r.Unposted(1, true), r.Unposted(0, true), r.Here(true, 1, 10))
		}, errSkipped},
		{"a stray that is too long", func(r *Receiver) error {
			r.Cancel(1)
			return errors.Join(r.Unposted(1, true), r.Unposted(0, true), r.Coming(true, 0, 101))
		}, errTooLong},
		{"a stray that never came", func(r *Receiver) error {
			r.Cancel(1)
			return errors.Join(r.Unposted(1, true), r.Unposted(0, true), r.Message(&Message{Kind: Withdrawn, Epoch: 1, Number: 1}))
		}, errSkipped},
	} {
		w := newWorld(t, some, allEager)
		w.receive(100, 0)
		w.receive(100, 0)
		err := b.do(&w.r)
		if !errors.Is(err, ErrProtocol) || !errors.Is(err, b.want) {
			t.Errorf("%s: %v", b.what, err)
		}
	}
}

// TestBreachesOfReceiver gives a Sender that has sent 10 bytes what no Receiver
// would.
func TestBreachesOfReceiver(t *testing.T) {
	good := Message{Kind: Advert, Epoch: 1, Position: 10, Len: 100, Window: 100}
	with := func(change func(m *Message)) *Message {
		m := good
		change(&m)
		return &m
	}
	for _, b := range []struct {
		what string
		m    *Message
		want error
	}{
		{"nothing wrong", &good, nil},
		{"an advert of nothing", with(func(m *Message) { m.Len = 0 }), errAdvert},
		{"an advert of too much", with(func(m *Message) { m.Len = 1 << 31 }), errAdvert},
		{"an advert of what was not sent", with(func(m *Message) { m.Position = 11 }), errAdvert},
		{"an advert of an old epoch", with(func(m *Message) { m.Epoch = ^uint32(0) }), errAdvert},
		{"an advert of an old number", with(func(m *Message) { m.Number = ^uint32(0) }), errAdvert},
		{"a smaller window", with(func(m *Message) { m.Window = 99 }), errWindow},
		{"an endless window", with(func(m *Message) { m.Window = 1 << 40 }), errWindow},
		{"a message for the Receiver", &Message{Kind: Fin}, errEnd},
		{"a message of no kind", &Message{}, errEnd},
	} {
		w := newWorld(t, some, allEager)
		w.send(10)
		err := w.s.Message(b.m)
		if !errors.Is(err, b.want) || err != nil && !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: %v", b.what, err)
		}
	}
	w := newWorld(t, some, allEager)
	var err error
	for number := uint32(0); err == nil && number < 10; number++ {
		err = w.s.Message(&Message{Kind: Advert, Epoch: 1, Number: number, Len: 100, Window: 100})
	}
	if !errors.Is(err, errCredits) {
		t.Errorf("adverts without end: %v", err)
	}
}

func TestDecodeStrict(t *testing.T) {
	var good [MessageSize]byte
	(&Message{Kind: Ack, Window: 5}).Encode(&good)
	var m Message
	if err := Decode(&m, good[:]); err != nil || m.Window != 5 {
		t.Fatalf("%+v, %v", m, err)
	}
	if err := Decode(&m, good[:31]); !errors.Is(err, ErrProtocol) {
		t.Errorf("a short message: %v", err)
	}
	for i := range 24 { // an Ack has a kind and a window
		bad := good
		bad[i] ^= 0x80
		if err := Decode(&m, bad[:]); !errors.Is(err, ErrProtocol) {
			t.Errorf("byte %d changed: %v", i, err)
		}
	}
}
