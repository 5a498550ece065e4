package tracefile

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"gomx/endpoint"
)

// Errors of Read.
var (
	ErrNotTrace = errors.New("it is not a trace of gomx")
	ErrVersion  = errors.New("it is a trace of another version of gomx")
)

// File is what a file has, whether its process is done with it or not.
type File struct {
	Info
	Job         uint64
	Rank, Ranks int // -1, 0: not known
	Began       int64
	Closed      bool   // the endpoint was closed; else its process still runs, or was killed
	Lost        uint64 // events that later ones have overwritten
	Missing     uint64 // events that the file should have: it was cut
	Torn        uint64 // events that are damaged, though nobody was writing them
	Rate        float64
	Span        int64 // ticks over which the rate was measured
	Names       []string
	Events      []endpoint.Event // the oldest first

	torn [][2]uint64 // the numbers of events that are not whole: from one to before another
}

// What a head may claim.
const (
	mostEvents = 1 << 31 // those of the largest ring that may be asked for
	mostRanks  = 1 << 20 // package mpi has no more
)

// Read reads a file. Of one that was cut it returns what is there.
func Read(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	file, err := read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

func read(f io.ReaderAt) (*File, error) {
	first := make([]byte, headBytes)
	n, err := f.ReadAt(first, 0)
	order, err := orderOf(first[:n], err)
	if err != nil {
		return nil, err
	}
	if n < headBytes {
		return nil, fmt.Errorf("%w: it was cut within its head, after %d bytes", ErrNotTrace, n)
	}
	h := headOf(first, order)
	if err := h.check(); err != nil {
		return nil, err
	}
	file := &File{Job: h.Job, Rank: int(h.Rank), Ranks: int(h.Ranks), Began: h.Began, Closed: h.Closed == 1}
	if err := json.Unmarshal(first[headBytes-infoBytes:][:h.InfoLen], &file.Info); err != nil {
		return nil, fmt.Errorf("%w: its description is damaged: %v", ErrNotTrace, err)
	}
	if err := file.take(f, order, h); err != nil {
		return nil, err
	}
	// The names and the count come behind what they are about.
	names := make([]byte, namesBytes)
	if _, err = f.ReadAt(names, headBytes); err != nil && err != io.EOF {
		return nil, err
	}
	if _, err = f.ReadAt(first, 0); err != nil && err != io.EOF {
		return nil, err
	}
	after := headOf(first, order)
	file.setRate(after.Clock)
	file.Names = strings.Split(string(names[:min(after.NamesLen, namesBytes)]), "\x00")
	file.drop(h, after)
	return file, nil
}

func orderOf(first []byte, err error) (binary.ByteOrder, error) {
	if len(first) < 8 {
		if err != nil && err != io.EOF {
			return nil, err
		}
		return nil, ErrNotTrace
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		switch word := order.Uint64(first); {
		case word == magic:
			return order, nil
		case word>>8 == magic>>8:
			return nil, ErrVersion
		}
	}
	return nil, ErrNotTrace
}

func headOf(b []byte, order binary.ByteOrder) (h head) {
	_ = binary.Read(bytes.NewReader(b), order, &h) // b is long enough
	return h
}

// check returns what is wrong with a head that anybody can have written.
func (h *head) check() error {
	switch {
	case h.Size != uint32(eventBytes):
		return ErrVersion
	case h.Events == 0 || h.Events&(h.Events-1) != 0 || h.Events > mostEvents || h.InfoLen > uint32(infoBytes) || h.NamesLen > namesBytes,
		h.Ranks < 0 || h.Ranks > mostRanks || h.Rank >= mostRanks:
		return fmt.Errorf("%w: its head is damaged", ErrNotTrace)
	}
	return nil
}

// setRate notes how many nanoseconds a tick takes. One is as good as the other clock if they could not be compared.
func (f *File) setRate(c [2]reading) {
	f.Rate = 1
	if span := c[1].Ticks - c[0].Ticks; span > 0 && c[1].Nanoseconds > c[0].Nanoseconds {
		f.Rate, f.Span = float64(c[1].Nanoseconds-c[0].Nanoseconds)/float64(span), span
	}
}

// atOnce is how many events are read at a time. The size that a head claims, and that of a file with holes, cost no memory.
const atOnce = 1 << 10

// take reads the events that the ring had when its head was read.
func (f *File) take(from io.ReaderAt, order binary.ByteOrder, h head) error {
	first := uint64(0)
	if h.Count > h.Events {
		f.Lost = h.Count - h.Events
		first = f.Lost
	}
	b := make([]byte, atOnce*eventBytes)
	for at := first; at < h.Count; {
		place := at & (h.Events - 1)
		want := min(h.Count-at, h.Events-place, atOnce)
		n, err := from.ReadAt(b[:want*uint64(eventBytes)], int64(ringAt)+int64(place)*int64(eventBytes))
		if err != nil && err != io.EOF {
			return err
		}
		whole := uint64(n / eventBytes)
		for i := range whole {
			f.add(b[i*uint64(eventBytes):][:eventBytes], order, at+i)
		}
		at += whole
		if whole < want { // it was cut here: what is missing goes to the end of the ring
			missing := min(h.Count-at, h.Events-place-whole)
			f.Missing += missing
			at += missing
		}
	}
	return nil
}

// add decodes one event, unless it is not the one that the count says.
func (f *File) add(b []byte, order binary.ByteOrder, number uint64) {
	var ev endpoint.Event
	decode(b, order, &ev)
	if ev.Turn != uint32(number+1) || !ev.Kind.Known() {
		if last := len(f.torn) - 1; last >= 0 && f.torn[last][1] == number {
			f.torn[last][1]++
		} else {
			f.torn = append(f.torn, [2]uint64{number, number + 1})
		}
		return
	}
	f.Events = append(f.Events, ev)
}

// drop drops the events that may have been written again while the ring was read, after one head and before another. The place of the next one
// counts as being written. It counts the damaged ones among the others.
func (f *File) drop(before, after head) {
	first := uint64(0)
	if after.Count >= before.Events {
		first = after.Count - before.Events + 1
	}
	for _, t := range f.torn {
		if t[1] > first {
			f.Torn += t[1] - max(t[0], first)
		}
	}
	dropped := 0
	for dropped < len(f.Events) && before.Count-uint64(uint32(before.Count)-f.Events[dropped].Turn+1) < first {
		dropped++
	}
	f.Events = f.Events[dropped:]
}

// decode reads an event field by field: a file may be of another machine.
func decode(b []byte, order binary.ByteOrder, ev *endpoint.Event) {
	*ev = endpoint.Event{
		At: int64(order.Uint64(b)), Since: int64(order.Uint64(b[8:])), Match: order.Uint64(b[16:]), Request: endpoint.Handle(order.Uint64(b[24:])),
		NIC: order.Uint64(b[32:]), Endpoint: order.Uint32(b[40:]), Session: order.Uint32(b[44:]), Seq: order.Uint32(b[48:]), Bytes: order.Uint32(b[52:]),
		Kind: endpoint.EventKind(b[56]), Flags: endpoint.EventFlags(b[57]), Name: order.Uint16(b[58:]), Turn: order.Uint32(b[60:]),
	}
}
