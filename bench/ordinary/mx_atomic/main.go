// Command mx_atomic measures a fetch-and-add of 8 B on a number in a window of another process of the host, in us, median. The owner of
// the window computes meanwhile, without a call of the library, or it waits in the library. Whoever adds computes, too, between two
// operations, or sleeps: a process that Go's timers wake begins with a second thread of the scheduler, which wants the same core.
package main

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"gomx/bench/internal/figure"
	"gomx/bench/ordinary/internal/meet"
	"gomx/mx"
)

// What the messages are for.
const (
	forHandle = iota
	forEnd
)

type options struct {
	peer, count int
	pause       time.Duration
	sleeps      bool
	waits       bool
}

func main() {
	var o options
	flag.IntVar(&o.peer, "peer", -1, "add to a number of this `endpoint`")
	flag.IntVar(&o.count, "count", 1000, "how `many`")
	flag.DurationVar(&o.pause, "pause", time.Millisecond, "between two, so that the owner's side sleeps again, `duration`")
	flag.BoolVar(&o.sleeps, "sleep", false, "pause asleep, and not computing")
	flag.BoolVar(&o.waits, "wait", false, "the owner waits in the library")
	flag.Parse()
	if o.peer >= 0 {
		figure.Fail(add(&o))
	} else {
		figure.Fail(own(&o))
	}
}

// own owns the number.
func own(o *options) error {
	ep, err := meet.ServeAny()
	if err != nil {
		return err
	}
	win, err := ep.OpenWindow(make([]byte, 8), mx.WindowRead|mx.WindowWrite)
	if err != nil {
		return err
	}
	over, ended := make(chan error, 1), atomic.Bool{}
	other := meet.Again("-peer", strconv.Itoa(int(ep.ID())), "-count", strconv.Itoa(o.count), "-pause", o.pause.String(), "-sleep="+strconv.FormatBool(o.sleeps))
	other.Stdout = os.Stdout
	if err := other.Start(); err != nil {
		return err
	}
	to, err := meet.Recv(ep, nil, forHandle)
	if err != nil {
		return err
	}
	go func() {
		over <- other.Wait()
		ended.Store(true)
	}()
	end, err := ep.Irecv(nil, forEnd, mx.MatchMaskNone, nil)
	if err != nil {
		return err
	}
	handle, err := win.Handle().MarshalBinary()
	if err != nil {
		return err
	}
	if err := meet.Send(ep, handle, to, forHandle); err != nil {
		return err
	}
	if o.waits {
		if _, _, err := ep.Wait(end, mx.Infinite); err != nil {
			return err
		}
	}
	for x := uint64(1); !ended.Load(); {
		x = x*6364136223846793005 + 1
	}
	return errors.Join(<-over, ep.Close())
}

// rest is the pause between two.
func (o *options) rest() {
	if o.sleeps {
		time.Sleep(o.pause)
		return
	}
	for begin := time.Now(); time.Since(begin) < o.pause; {
	}
}

// add adds to the number.
func add(o *options) error {
	ep, to, err := meet.Call(o.peer)
	if err != nil {
		return err
	}
	if err := meet.Send(ep, nil, to, forHandle); err != nil {
		return err
	}
	var b [mx.WindowHandleSize]byte
	if _, err := meet.Recv(ep, b[:], forHandle); err != nil {
		return err
	}
	var h mx.WindowHandle
	if err := h.UnmarshalBinary(b[:]); err != nil {
		return err
	}
	m, took := figure.Begin(), make([]time.Duration, o.count)
	for i := range took {
		o.rest()
		begin := time.Now()
		was := binary.NativeEndian.AppendUint64(nil, 1)
		r, err := ep.IfetchAtomic(mx.AtomicSum, mx.AtomicUint64, was, to, h, 0, 0, nil)
		if err != nil {
			return err
		}
		st, _, err := ep.Wait(r, mx.Infinite)
		if took[i] = time.Since(begin); err == nil {
			err = st.Err()
		}
		if err != nil {
			return err
		}
		if before := binary.NativeEndian.Uint64(was); before != uint64(i) {
			return fmt.Errorf("the number was %d, want %d", before, i)
		}
	}
	slices.Sort(took)
	m.Print(took[len(took)/2].Seconds()*1e6, o.count)
	if err := meet.Send(ep, nil, to, forEnd); err != nil {
		return err
	}
	return ep.Close()
}
