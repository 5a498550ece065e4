// Command mx_deadline measures the longest of a number of waits that end by their own time, while another process of the
// same program puts 8 bytes into a window of this one without a pause. Its figure is in milliseconds.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"gomx/bench/internal/figure"
	"gomx/bench/ordinary/internal/meet"
	"gomx/mx"
)

func main() {
	peer := flag.Int("peer", -1, "be the peer of this `endpoint`")
	count := flag.Int("count", 20, "waits")
	limit := flag.Duration("limit", 100*time.Millisecond, "when each is to end")
	timer := flag.Bool("timer", false, "the library's timer ends them, that of a connect, and not a context")
	silent := flag.Bool("mute", false, "be a process whose endpoint takes nothing")
	flag.Parse()
	switch {
	case *silent:
		figure.Fail(mute())
	case *peer >= 0:
		figure.Fail(put(*peer))
	default:
		figure.Fail(wait(*count, *limit, *timer))
	}
}

func wait(count int, limit time.Duration, timer bool) error {
	ep, err := meet.ServeAny()
	if err != nil {
		return err
	}
	w, err := ep.OpenWindow(make([]byte, 8), mx.WindowWrite)
	if err != nil {
		return err
	}
	other := meet.Again("-peer", strconv.Itoa(int(ep.ID())))
	end, err := other.StdinPipe()
	if err != nil {
		return err
	}
	if err := other.Start(); err != nil {
		return err
	}
	to, err := meet.Recv(ep, make([]byte, 8), 1)
	if err != nil {
		return err
	}
	handle, err := w.Handle().MarshalBinary()
	if err != nil {
		return err
	}
	if err := meet.Send(ep, handle, to, 2); err != nil {
		return err
	}
	var absent uint32
	leave := func() error { return nil }
	if timer {
		if absent, leave, err = startMute(); err != nil {
			return err
		}
	}
	m, longest := figure.Begin(), time.Duration(0)
	for range count {
		begin := time.Now()
		if timer {
			err = byTimer(ep, absent, limit)
		} else {
			err = byContext(ep, limit)
		}
		if err != nil {
			return err
		}
		longest = max(longest, time.Since(begin))
	}
	m.Print(longest.Seconds()*1e3, count)
	return errors.Join(leave(), end.Close(), other.Wait(), ep.Close())
}

// byContext waits for a message that nobody sends, until a context ends.
func byContext(ep *mx.Endpoint, limit time.Duration) error {
	r, err := ep.Irecv(nil, 3, mx.MatchMaskNone, nil)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if _, err := ep.WaitContext(ctx, r); !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("a wait whose context ended: %v", err)
	}
	_, err = ep.Cancel(r)
	return err
}

// byTimer connects to an endpoint that takes nothing, until the time of the connect is up.
func byTimer(ep *mx.Endpoint, absent uint32, limit time.Duration) error {
	nic, _, err := mx.DecomposeEndpointAddr(ep.Addr())
	if err != nil {
		return err
	}
	if _, err := ep.Connect(nic, absent, 0, limit); !errors.Is(err, mx.ErrTimeout) {
		return fmt.Errorf("a connect to an endpoint that takes nothing: %v", err)
	}
	return nil
}

// startMute starts a process whose endpoint takes nothing, and returns its number.
func startMute() (id uint32, end func() error, err error) {
	other := meet.Again("-mute")
	in, err := other.StdinPipe()
	if err != nil {
		return 0, nil, err
	}
	out, err := other.StdoutPipe()
	if err != nil {
		return 0, nil, err
	}
	if err := other.Start(); err != nil {
		return 0, nil, err
	}
	end = func() error { return errors.Join(in.Close(), other.Wait()) }
	if _, err := fmt.Fscan(out, &id); err != nil {
		return 0, nil, errors.Join(err, end())
	}
	return id, end, nil
}

func mute() error {
	ep, err := meet.ServeAny()
	if err != nil {
		return err
	}
	if err := ep.DisableProgression(); err != nil {
		return err
	}
	fmt.Println(ep.ID())
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, ep.ReenableProgression(), ep.Close())
}

func put(id int) error {
	ep, to, err := meet.Call(id)
	if err != nil {
		return err
	}
	if err := meet.Send(ep, make([]byte, 8), to, 1); err != nil {
		return err
	}
	handle := make([]byte, mx.WindowHandleSize)
	if _, err := meet.Recv(ep, handle, 2); err != nil {
		return err
	}
	var h mx.WindowHandle
	if err := h.UnmarshalBinary(handle); err != nil {
		return err
	}
	over := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(over)
	}()
	for b := make([]byte, 8); ; {
		select {
		case <-over:
			return ep.Close()
		default:
		}
		r, err := ep.Iput(b, to, h, 0, 0, nil)
		if err != nil {
			return err
		}
		if _, _, err := ep.Wait(r, mx.Infinite); err != nil {
			return err
		}
	}
}
