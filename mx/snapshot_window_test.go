package mx_test

import (
	"slices"
	"testing"

	"gomx/mx"
)

// TestSnapshotHasWindows: an endpoint's windows are listed with what peers may do and have done, and not with their names.
func TestSnapshotHasWindows(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		both, err := b.OpenWindow(make([]byte, 100), mx.WindowRead|mx.WindowWrite)
		if err != nil {
			w.Fatal(err)
		}
		gets, err := b.OpenWindow(make([]byte, 50), mx.WindowRead)
		if err != nil {
			w.Fatal(err)
		}
		buf := make([]byte, 50)
		for range 3 {
			r, err := a.Iput(buf, toB, both.Handle(), 10, 1, nil)
			if err != nil {
				w.Fatal(err)
			}
			w.succeed(a, r)
		}
		r, err := a.Iget(buf, toB, gets.Handle(), 0, 1, nil)
		if err != nil {
			w.Fatal(err)
		}
		w.succeed(a, r)
		want := []mx.WindowInfo{{Bytes: 100, Read: true, Write: true, Puts: 3}, {Bytes: 50, Read: true, Gets: 1}}
		w.until("the windows are listed", func() bool { return slices.Equal(b.Snapshot().Windows, want) }, b)
		if err := both.Close(); err != nil {
			w.Fatal(err)
		}
		if got := b.Snapshot().Windows; !slices.Equal(got, want[1:]) {
			w.Errorf("%+v", got)
		}
		if got := a.Snapshot().Windows; len(got) != 0 {
			w.Errorf("%+v", got)
		}
	})
}
