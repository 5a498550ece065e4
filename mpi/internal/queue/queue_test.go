package queue

import (
	"slices"
	"testing"
)

// take asks for the lock with the rank as the ticket.
func take(t *testing.T, l *Lock[int], rank int, exclusive, want bool) {
	t.Helper()
	granted, known := l.Take(rank, exclusive, rank)
	if granted != want || known {
		t.Fatalf("rank %d: granted %v, known %v", rank, granted, known)
	}
}

func give(t *testing.T, l *Lock[int], rank int, want ...int) {
	t.Helper()
	if tickets, held := l.Give(rank); !held || !slices.Equal(tickets, want) {
		t.Fatalf("rank %d gives it back: %v, %v, want %v", rank, tickets, held, want)
	}
}

func TestFair(t *testing.T) {
	var l Lock[int]
	take(t, &l, 0, false, true)
	take(t, &l, 1, false, true)
	take(t, &l, 2, true, false)
	take(t, &l, 3, false, false) // not before the one who waits
	take(t, &l, 4, false, false)
	take(t, &l, 5, true, false)
	give(t, &l, 1)
	give(t, &l, 0, 2)
	give(t, &l, 2, 3, 4)
	give(t, &l, 4)
	give(t, &l, 3, 5)
	give(t, &l, 5)
	take(t, &l, 1, true, true)
}

func TestWhoIsKnown(t *testing.T) {
	var l Lock[int]
	take(t, &l, 0, true, true)
	take(t, &l, 1, true, false)
	for rank := range 2 {
		if granted, known := l.Take(rank, false, 9); granted || !known {
			t.Errorf("rank %d asks twice: %v, %v", rank, granted, known)
		}
	}
	if _, held := l.Give(1); held {
		t.Error("one who waits has given it back")
	}
	if !slices.Equal(l.Holders(), []int{0}) || !l.Holds(0) || l.Holds(1) {
		t.Error("held by", l.Holders())
	}
}

func TestDrop(t *testing.T) {
	var l Lock[int]
	take(t, &l, 0, true, true)
	take(t, &l, 1, true, false)
	take(t, &l, 2, true, false)
	if got := l.Drop(1); got != nil {
		t.Error("one who waited is gone, and there go on:", got)
	}
	if got := l.Drop(0); !slices.Equal(got, []int{2}) {
		t.Error("the holder is gone, and there go on:", got)
	}
	take(t, &l, 3, false, false)
	if got := l.Tickets(); !slices.Equal(got, []int{3}) {
		t.Error("there waited:", got)
	}
	give(t, &l, 2)
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
				if granted, _ := l.Take(rank, wants[next], next); granted {
					serve([]int{next})
				}
			case 2:
				_, holds := alone[rank]
				delete(alone, rank)
				tickets, held := l.Give(rank)
				if held != holds {
					t.Fatalf("rank %d holds it: %v, not %v", rank, held, holds)
				}
				serve(tickets)
			case 3:
				delete(alone, rank)
				serve(l.Drop(rank))
			}
			if len(l.waiting) > 0 && len(l.holders) == 0 {
				t.Fatal("somebody waits for nobody")
			}
		}
	})
}
