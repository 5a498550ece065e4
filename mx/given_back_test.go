package mx_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mx"
)

// TestMemoryThatIsGivenBack: what a program writes into memory that is its own again, because the window or the endpoint was closed or the
// session has ended, never comes to a peer whose get or put was under way.
func TestMemoryThatIsGivenBack(t *testing.T) {
	testlength.Long(t)
	const rounds = 25
	for name, round := range map[string]func(w *world, random *rand.Rand){
		"gets, Window.Close": func(w *world, random *rand.Rand) {
			w.getsUnderWay(random, func(_ *mx.Endpoint, win *mx.Window) error { return win.Close() })
		},
		"gets, Endpoint.Close": func(w *world, random *rand.Rand) {
			w.getsUnderWay(random, func(ep *mx.Endpoint, _ *mx.Window) error { return ep.Close() })
		},
		"puts, Disconnect": func(w *world, random *rand.Rand) { w.putsUnderWay(random, (*mx.Endpoint).Disconnect) },
		"puts, Endpoint.Close": func(w *world, random *rand.Rand) {
			w.putsUnderWay(random, func(ep *mx.Endpoint, _ mx.EndpointAddr) error { return ep.Close() })
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			over(t, func(w *world) {
				for seed := range w.times(rounds) {
					round(w, rand.New(rand.NewPCG(uint64(seed), 1)))
				}
			})
		})
	}
}

const (
	givenBack = 1 << 20
	underWay  = 6
)

// getsUnderWay has a peer get a window's memory, which end gives back to the program.
func (w *world) getsUnderWay(random *rand.Rand, end func(*mx.Endpoint, *mx.Window) error) {
	w.Helper()
	a, b, toB, _ := w.pair()
	memory := bytes.Repeat([]byte{'A'}, givenBack)
	win, err := b.OpenWindow(memory, mx.WindowRead)
	if err != nil {
		w.Fatal(err)
	}
	var got [underWay][]byte
	var reqs [underWay]mx.Request
	for i := range reqs {
		got[i] = make([]byte, givenBack)
		if reqs[i], err = a.Iget(got[i], toB, win.Handle(), 0, 0, nil); err != nil {
			w.Fatal(err)
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for _, r := range reqs {
			if _, done, err := a.Wait(r, bound); !done || err != nil {
				w.Error(done, err)
			}
		}
	}()
	_, _, _ = b.Probe(time.Duration(random.IntN(1500))*time.Microsecond, 1<<40, ^uint64(0))
	if err := end(b, win); err != nil {
		w.Error(err)
	}
	for i := range memory {
		memory[i] = 'S'
	}
	<-ended
	for i := range got {
		if n := bytes.Count(got[i], []byte{'S'}); n > 0 {
			w.Errorf("get %d has brought %d bytes that were never in the window", i, n)
		}
	}
	_ = a.Close()
	_ = b.Close()
}

// putsUnderWay puts memory into a peer's window, and end gives it back to the program.
func (w *world) putsUnderWay(random *rand.Rand, end func(*mx.Endpoint, mx.EndpointAddr) error) {
	w.Helper()
	a, b, toB, _ := w.pair()
	memory, window := bytes.Repeat([]byte{'A'}, givenBack), make([]byte, underWay*givenBack)
	win, err := b.OpenWindow(window, mx.WindowWrite)
	if err != nil {
		w.Fatal(err)
	}
	for i := range underWay {
		if _, err := a.Iput(memory, toB, win.Handle(), uint32(i*givenBack), 0, nil); err != nil {
			w.Fatal(err)
		}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for over := false; !over; {
			_, _, _ = b.Probe(time.Millisecond, 1<<40, ^uint64(0))
			select {
			case <-stop:
				over = true
			default:
			}
		}
	}()
	_, _, _ = a.Probe(time.Duration(random.IntN(1500))*time.Microsecond, 1<<40, ^uint64(0))
	if err := end(a, toB); err != nil {
		w.Error(err)
	}
	for i := range memory {
		memory[i] = 'S'
	}
	time.Sleep(2 * time.Millisecond)
	close(stop)
	<-stopped
	_ = a.Close()
	_ = b.Close()
	if n := bytes.Count(window, []byte{'S'}); n > 0 {
		w.Errorf("%d bytes were written that nobody has put", n)
	}
}

// TestWindowClosesWithoutProgression: also while a large put of a peer is under way, Close does not wait for what only progress would end.
func TestWindowClosesWithoutProgression(t *testing.T) {
	over(t, func(w *world) {
		a, b, toB, _ := w.pair()
		for seed := range w.times(30) {
			random := rand.New(rand.NewPCG(uint64(seed), 2))
			win, err := b.OpenWindow(make([]byte, 4<<20), mx.WindowWrite)
			if err != nil {
				w.Fatal(err)
			}
			var puts [4]mx.Request
			for i := range puts {
				if puts[i], err = a.Iput(make([]byte, 1<<20), toB, win.Handle(), uint32(i)<<20, 1, nil); err != nil {
					w.Fatal(err)
				}
			}
			for end := time.Now().Add(time.Duration(random.IntN(1000)) * time.Microsecond); err == nil && time.Now().Before(end); {
				err = b.Progress()
			}
			if err = errors.Join(err, b.DisableProgression()); err != nil {
				w.Fatal(err)
			}
			closed := make(chan error, 1)
			go func() { closed <- win.Close() }()
			select {
			case err = <-closed:
			case <-time.After(bound):
				w.Fatal("Close stands")
			}
			if err = errors.Join(err, b.ReenableProgression()); err != nil {
				w.Fatal(err)
			}
			for _, put := range puts {
				if st := w.done(a, put); st.Code != mx.StatusSuccess && st.Code != mx.StatusBadRDMAWindow {
					w.Error(st.Code)
				}
			}
		}
	})
}
