package traffic

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"gomx/mx"
)

// addsAtOnce is how many fetch-and-adds an adder has under way.
const addsAtOnce = 16

// openNumber opens a window with a number that peers add to.
func (p *peer) openNumber() {
	win, err := p.ep.OpenWindow(make([]byte, 8), mx.WindowRead|mx.WindowWrite)
	p.check(err)
	handle, err := win.Handle().MarshalBinary()
	p.check(err)
	p.number = win
	p.Say("number %x", handle)
}

// awaitSum reads the number until it is at least so much, in a loop that makes progress as a program that waits for it does.
func (p *peer) awaitSum(least int64) {
	sum := make([]byte, 8)
	for begin := time.Now(); ; {
		p.check(p.number.FetchAtomic(mx.AtomicRead, mx.AtomicInt64, sum, 0))
		now := int64(binary.NativeEndian.Uint64(sum))
		if now >= least {
			p.Say("sum %d", now)
			return
		}
		if time.Since(begin) > 5*time.Minute {
			p.check(fmt.Errorf("the sum is %d, and does not come to %d", now, least))
		}
		p.check(p.ep.Progress())
	}
}

// add adds 1 to a peer's number, so many times. What was there before must grow from each to the next.
func (p *peer) add(to mx.EndpointAddr, handle string, count int) error {
	b, err := hex.DecodeString(handle)
	if err != nil {
		return err
	}
	var h mx.WindowHandle
	if err := h.UnmarshalBinary(b); err != nil {
		return err
	}
	var reqs [addsAtOnce]mx.Request
	var bufs [addsAtOnce][8]byte
	last := int64(-1)
	for i := range count + addsAtOnce {
		r, buf := &reqs[i%addsAtOnce], bufs[i%addsAtOnce][:]
		if i >= addsAtOnce && i-addsAtOnce < count {
			if err := p.ep.Finish(*r, time.Minute); err != nil {
				return err
			}
			was := int64(binary.NativeEndian.Uint64(buf))
			if was <= last {
				return fmt.Errorf("the number was %d after %d", was, last)
			}
			last = was
		}
		if i < count {
			binary.NativeEndian.PutUint64(buf, 1)
			if *r, err = p.ep.IfetchAtomic(mx.AtomicSum, mx.AtomicInt64, buf, to, h, 0, 0, nil); err != nil {
				return err
			}
		}
	}
	return nil
}
