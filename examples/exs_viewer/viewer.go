package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"gomx/exs"
)

// viewer draws frames.
type viewer struct {
	frames   int // 0: until the end
	pace     time.Duration
	plain    bool
	pictures string // a folder, or nothing
	out      io.Writer

	drawn int
	last  uint64 // step that was drawn
}

// lookAgain is how long the viewer waits before it looks whether it should end.
const lookAgain = 100 * time.Millisecond

// watch connects to a simulation, and draws until there is enough.
func (v *viewer) watch(ctx context.Context, at netip.AddrPort) error {
	domain := exs.Inet6
	if at.Addr().Is4() {
		domain = exs.Inet
	}
	s, err := exs.NewSocket(domain, exs.SeqPacket, 0)
	if err != nil {
		return err
	}
	q, err := exs.NewQueue(2)
	if err == nil {
		_, err = s.Fcntl(exs.SetFlowControlCredits, 1)
	}
	if err == nil {
		err = s.BlockingConnect(at)
	}
	if err == nil {
		_, err = s.Recv(make([]byte, 2*frameSize), exs.Persistent|exs.Notify, q, nil, exs.Unregistered)
	}
	if err == nil {
		err = v.drawAll(ctx, q)
	}
	return errors.Join(err, s.Close(exs.Block|exs.DontLinger, nil, nil))
}

func (v *viewer) drawAll(ctx context.Context, q *exs.Queue) error {
	var e [1]exs.Event
	for ctx.Err() == nil && (v.frames == 0 || v.drawn < v.frames) {
		switch n, err := q.Dequeue(e[:], lookAgain); {
		case err != nil:
			return err
		case n == 0:
			continue
		case e[0].Type != exs.EvtWritten:
			return fmt.Errorf("the simulation has ended: %w", e[0].Errno)
		}
		if err := v.draw(e[0].Buffer[e[0].Offset:][:e[0].Length]); err != nil {
			return err
		}
		select { // its own pace
		case <-ctx.Done():
		case <-time.After(v.pace):
		}
	}
	return nil
}

// draw draws a frame.
func (v *viewer) draw(frame []byte) error {
	step := binary.LittleEndian.Uint64(frame)
	if len(frame) != frameSize || v.drawn > 0 && step <= v.last {
		return fmt.Errorf("frame of %d bytes and step %d after step %d", len(frame), step, v.last)
	}
	v.drawn++
	v.last = step
	if v.pictures != "" {
		return v.picture(frame[stampSize:])
	}
	return v.text(frame[stampSize:])
}

const shades = " .:-=+*#%@"

func (v *viewer) text(cells []byte) error {
	var b bytes.Buffer
	if !v.plain {
		b.WriteString("\x1b[H\x1b[2J")
	}
	for y := range height {
		for x := range width {
			b.WriteByte(shades[int(cells[y*width+x])*len(shades)/256])
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "step %d\n", v.last)
	_, err := v.out.Write(b.Bytes())
	return err
}

// picture writes a frame as a file.
func (v *viewer) picture(cells []byte) error {
	m := &image.Gray{Pix: cells, Stride: width, Rect: image.Rect(0, 0, width, height)}
	f, err := os.Create(filepath.Join(v.pictures, fmt.Sprintf("frame%05d.png", v.drawn)))
	if err != nil {
		return err
	}
	return errors.Join(png.Encode(f, m), f.Close())
}
