package stream

import "testing"

// choose lets bytes decide; 0 when they are used up.
func choose(from []byte) (pick chooser, left func() int) {
	return func(n int) int {
			if len(from) == 0 {
				return 0
			}
			b := from[0]
			from = from[1:]
			if n > 256 && len(from) > 0 {
				b2 := from[0]
				from = from[1:]
				return (int(b) | int(b2)<<8) % n
			}
			return int(b) % n
		}, func() int {
			return len(from)
		}
}

// FuzzHistory lets a fuzzer decide what happens when.
func FuzzHistory(f *testing.F) {
	f.Add([]byte("any bytes will do, and the longer they are the more will happen"))
	f.Add([]byte{60, 3, 100, 20, 1, 30, 10, 5, 0, 0, 0, 50, 4, 90, 3, 8, 12, 15, 0, 0, 50, 8, 12, 22, 0, 15})
	f.Fuzz(func(t *testing.T, b []byte) {
		pick, left := choose(b)
		w := newWorld(t, randomConfig(pick), pick(60))
		largest := 1 << pick(9)
		for left() > 0 {
			step(w, pick, largest, 8)
			if pick(200) == 199 {
				w.shutdown()
			}
		}
		w.quiet()
		drain(w)
	})
}

// FuzzHostileSender gives a Receiver messages that no Sender would send. It must
// keep within its bounds until it notices.
func FuzzHostileSender(f *testing.F) {
	f.Add([]byte("any bytes will do, and the longer they are the more will happen"))
	f.Fuzz(func(t *testing.T, b []byte) {
		pick, left := choose(b)
		w := newWorld(t, randomConfig(pick), 0)
		w.aborting = true
		var err error
		for left() > 0 && err == nil {
			hand := packet{data: make([]byte, 300), n: pick(300), direct: pick(2) == 0, number: uint32(pick(8))}
			switch pick(8) {
			case 0:
				flags := Flags(pick(8))
				if !w.r.cfg.buffered() {
					flags &^= Peek
				}
				w.receive(pick(100), flags)
				continue
			case 1:
				if len(w.nextRecv) > 0 {
					w.cancelReceive(w.nextRecv[pick(len(w.nextRecv))])
				}
				continue
			case 2:
				m := Message{Kind: Ask + Kind(pick(4)), Number: uint32(pick(8)), Epoch: uint32(pick(4)), Position: uint64(pick(300))}
				err = w.r.Message(&m)
			case 3:
				err = w.r.Here(hand.direct, hand.number, hand.n)
			case 4:
				err = w.r.Here(false, w.r.adverts.used+uint32(pick(2)), hand.n)
			case 5:
				err = w.r.Coming(hand.direct, hand.number, hand.n)
			case 6:
				err = w.land(pick)
			case 7:
				err = w.r.Fetched(uint32(pick(8)))
			}
			if err == nil {
				w.runReceiver(&hand)
			}
		}
		w.r.Reset()
		w.runReceiver(nil)
		if err == nil && len(w.receives) > 0 {
			t.Fatalf("%d receives outlive a reset with nothing landing", len(w.receives))
		}
	})
}

// land completes a posted receive with any number of bytes.
func (w *world) land(pick chooser) error {
	number := uint32(pick(8))
	if _, ok := w.posted[number]; !ok {
		return nil
	}
	delete(w.posted, number)
	return w.r.Landed(number, pick(100))
}

// FuzzHostileReceiver gives a Sender messages that no Receiver would send.
func FuzzHostileReceiver(f *testing.F) {
	f.Add([]byte("any bytes will do, and the longer they are the more will happen"))
	f.Fuzz(func(t *testing.T, b []byte) {
		pick, left := choose(b)
		w := newWorld(t, randomConfig(pick), 60)
		w.hostile = true
		for left() > 0 {
			if pick(3) == 0 {
				w.send(pick(100))
				continue
			}
			m := Message{
				Kind: Advert + Kind(pick(4)), Whole: pick(2) == 0, Number: uint32(pick(8)), Epoch: uint32(pick(4)), Len: uint32(pick(200)),
				Position: uint64(pick(100)), Window: w.s.window + uint64(pick(100)),
			}
			err := w.s.Message(&m)
			w.runSender()
			if err != nil || w.s.adverts.len() > w.s.cfg.Credits {
				return
			}
		}
	})
}

// FuzzDecode wants every message that is understood to be written the same.
func FuzzDecode(f *testing.F) {
	var b [MessageSize]byte
	(&Message{Kind: Advert, Whole: true, Number: 1, Epoch: 2, Len: 3, Position: 4, Window: 5}).Encode(&b)
	f.Add(b[:])
	f.Fuzz(func(t *testing.T, in []byte) {
		var m Message
		if Decode(&m, in) != nil {
			return
		}
		var out [MessageSize]byte
		m.Encode(&out)
		if string(out[:]) != string(in) {
			t.Fatalf("%x became %+v and %x", in, m, out)
		}
	})
}
