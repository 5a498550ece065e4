package queue

import (
	"slices"
	"testing"
)

// asks takes the lock with the rank as the ticket.
func asks(t *testing.T, l *Lock[int], rank int, exclusive bool, want Verdict) {
	t.Helper()
	if got := l.Take(rank, 1, exclusive, rank); got != want {
		t.Fatalf("rank %d: verdict %v, want %v", rank, got, want)
	}
}

func gives(t *testing.T, l *Lock[int], rank int, want ...int) {
	t.Helper()
	if tickets, held := l.Give(rank, 1); !held || !slices.Equal(tickets, want) {
		t.Fatalf("rank %d gives it back: %v, %v, want %v", rank, tickets, held, want)
	}
}

func TestFair(t *testing.T) {
	var l Lock[int]
	asks(t, &l, 0, false, Granted)
	asks(t, &l, 1, false, Granted)
	asks(t, &l, 2, true, Waits)
	asks(t, &l, 3, false, Waits) // not before the one who waits
	asks(t, &l, 4, false, Waits)
	asks(t, &l, 5, true, Waits)
	gives(t, &l, 1)
	gives(t, &l, 0, 2)
	gives(t, &l, 2, 3, 4)
	gives(t, &l, 4)
	gives(t, &l, 3, 5)
	gives(t, &l, 5)
	asks(t, &l, 1, true, Granted)
}

func TestWhoIsKnown(t *testing.T) {
	var l Lock[int]
	asks(t, &l, 0, true, Granted)
	asks(t, &l, 1, true, Waits)
	for rank := range 2 {
		if got := l.Take(rank, 2, false, 9); got != Known {
			t.Errorf("rank %d asks twice: %v", rank, got)
		}
	}
	if _, held := l.Give(1, 1); held {
		t.Error("one who waits has given it back")
	}
	if !slices.Equal(l.Holders(), []int{0}) {
		t.Error("held by", l.Holders())
	}
}

func TestTheDeadAreOut(t *testing.T) {
	var l Lock[int]
	asks(t, &l, 0, true, Granted)
	asks(t, &l, 1, true, Waits)
	asks(t, &l, 2, true, Waits)
	if got := l.Fail(1); got != nil {
		t.Error("one who waited is gone, and there go on:", got)
	}
	if got := l.Fail(0); !slices.Equal(got, []int{2}) {
		t.Error("the holder is gone, and there go on:", got)
	}
	asks(t, &l, 1, true, Refused) // it had asked before it died
	gives(t, &l, 2)
	asks(t, &l, 0, true, Refused)
	asks(t, &l, 2, true, Granted)
}

func TestUndo(t *testing.T) {
	var l Lock[int]
	asks(t, &l, 0, true, Granted)
	asks(t, &l, 1, true, Waits)
	asks(t, &l, 2, true, Waits)
	if got := l.Undo(1, 1); got != nil {
		t.Error("one who waited gives up, and there go on:", got)
	}
	if got := l.Undo(0, 1); !slices.Equal(got, []int{2}) {
		t.Error("one who has the lock gives up, and there go on:", got)
	}
	gives(t, &l, 2)
	if got := l.Take(1, 2, true, 1); got != Granted {
		t.Error("the second attempt of rank 1:", got)
	}
	if got := l.Undo(1, 1); got != nil || !slices.Equal(l.Holders(), []int{1}) {
		t.Error("the first attempt is undone once more, and there go on:", got)
	}
	if _, held := l.Give(1, 1); held {
		t.Error("the first attempt gives back what the second has")
	}
}

func TestClose(t *testing.T) {
	var l Lock[int]
	asks(t, &l, 0, true, Granted)
	asks(t, &l, 3, false, Waits)
	if got := l.Close(); !slices.Equal(got, []int{3}) {
		t.Error("there waited:", got)
	}
	asks(t, &l, 4, false, Refused)
	gives(t, &l, 0)
}

// FuzzLock wants nobody beside one who is alone, nobody served before one who came
// earlier, and everybody served once.
func FuzzLock(f *testing.F) {
	f.Add([]byte{0, 9, 18, 3, 4, 5, 70, 71, 80})
	f.Fuzz(func(t *testing.T, script []byte) {
		var l Lock[int]
		next, served := 0, 0
		alone := map[int]bool{} // of those who hold it
		wants := map[int]bool{} // of all that have come, by ticket
		rankOf := map[int]int{}
		serve := func(tickets []int) {
			for _, ticket := range tickets {
				if ticket < served {
					t.Fatalf("ticket %d is served behind %d", ticket, served)
				}
				served = ticket
				alone[rankOf[ticket]] = wants[ticket]
			}
			for _, is := range alone {
				if is && len(alone) > 1 {
					t.Fatal("somebody is not alone")
				}
			}
		}
		for _, b := range script {
			rank := int(b % 8)
			switch b / 8 % 4 {
			case 0, 1:
				next++
				wants[next], rankOf[next] = b/8%4 == 1, rank
				if l.Take(rank, 1, wants[next], next) == Granted {
					serve([]int{next})
				}
			case 2:
				_, holds := alone[rank]
				delete(alone, rank)
				tickets, held := l.Give(rank, 1)
				if held != holds {
					t.Fatalf("rank %d holds it: %v, not %v", rank, held, holds)
				}
				serve(tickets)
			case 3:
				delete(alone, rank)
				serve(l.Undo(rank, 1))
			}
			if len(l.waiting) > 0 && len(l.holders) == 0 {
				t.Fatal("somebody waits for nobody")
			}
		}
	})
}

// TestLeave: a rank that leaves gets its own ticket back, and nobody else does.
func TestLeave(t *testing.T) {
	var l Lock[int]
	for rank := range 3 {
		asks(t, &l, rank, rank != 2, []Verdict{Granted, Waits, Waits}[rank])
	}
	for rank, want := range [][]int{nil, {1}, {2}} {
		if own := l.Leave(rank); !slices.Equal(own, want) {
			t.Errorf("rank %d leaves: tickets %v, want %v", rank, own, want)
		}
		asks(t, &l, rank, false, Refused)
	}
}
