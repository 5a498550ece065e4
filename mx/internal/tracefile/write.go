package tracefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
	"unsafe"

	"gomx/endpoint"
)

// Writer is the file of an endpoint that is open.
type Writer struct {
	Recorder endpoint.Recorder
	Path     string

	clock clock
	mem   []byte
	head  *head
	pace  int64 // ticks until the clocks are compared again

	mu    sync.Mutex
	names map[string]uint16
	full  bool // there is no space for another name
}

// Create makes the file of an endpoint in a folder, which it makes too unless it is there, with space for as many events as
// go into size bytes. Nobody but the user may read it.
func Create(folder string, info Info, size int) (*Writer, error) {
	w := &Writer{clock: newClock(), names: map[string]uint16{}, pace: 1 << 20}
	info.Clock = w.clock.name
	text, err := json.Marshal(info)
	if err != nil {
		return nil, err
	}
	if len(text) > infoBytes {
		return nil, fmt.Errorf("the description of the endpoint takes %d bytes, and may take %d", len(text), infoBytes)
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	n := ringLen(size)
	if err := hasSpace(folder, ringAt+n*eventBytes); err != nil {
		return nil, err
	}
	f, err := create(folder, &info)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err = fill(f, ringAt+n*eventBytes); err == nil {
		w.mem, err = mapFile(f, ringAt+n*eventBytes)
	}
	if err != nil {
		return nil, errors.Join(err, os.Remove(f.Name()))
	}
	w.Path = f.Name()
	w.head = (*head)(unsafe.Pointer(&w.mem[0]))
	w.Recorder = endpoint.Recorder{
		Events: unsafe.Slice((*endpoint.Event)(unsafe.Pointer(&w.mem[ringAt])), n),
		Count:  &w.head.Count, Clock: w.clock.read, Lapse: w.lapse,
	}
	now := w.compare()
	*w.head = head{
		Events: uint64(n), Size: uint32(eventBytes), Clock: [2]reading{now, now}, Began: time.Now().UnixNano(),
		Rank: -1, InfoLen: uint32(copy(w.mem[headBytes-infoBytes:headBytes], text)),
	}
	w.head.Magic = magic // the file can be read from now on
	w.Recorder.Due = now.Ticks + w.pace
	return w, nil
}

// create makes a file of a name that nobody has.
func create(folder string, info *Info) (*os.File, error) {
	for try := 1; ; try++ {
		name := fmt.Sprintf("%s.%d.%x.%d", filepath.Base(info.Host), info.PID, info.NIC, info.ID)
		if try > 1 {
			name += fmt.Sprintf(".%d", try)
		}
		f, err := os.OpenFile(filepath.Join(folder, name+Suffix), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if !errors.Is(err, os.ErrExist) {
			return f, err
		}
	}
}

// fill writes zeros, so that all of the file has its place on the disk.
func fill(f *os.File, size int) error {
	zeros := make([]byte, 1<<20)
	for size > 0 {
		n, err := f.Write(zeros[:min(size, len(zeros))])
		if err != nil {
			return err
		}
		size -= n
	}
	return nil
}

// compare reads both clocks.
func (w *Writer) compare() reading {
	before := w.clock.read()
	ns := nanoseconds()
	after := w.clock.read()
	return reading{before + (after-before)/2, ns}
}

// lapse compares the clocks, at first often. That the last comparison may be some time before the end of a killed process does
// little harm: the paces of the clocks don't change.
func (w *Writer) lapse(int64) {
	w.head.Clock[1] = w.compare()
	if w.pace < 1<<30 {
		w.pace *= 2
	}
	w.Recorder.Due = w.head.Clock[1].Ticks + w.pace
}

// Now returns the time by the clock of the events.
func (w *Writer) Now() int64 { return w.clock.read() }

// SetJob says which rank of which job the endpoint is of. Like Name it is for any goroutine, also after Close.
func (w *Writer) SetJob(job uint64, rank, ranks int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.head == nil {
		return
	}
	w.head.Job, w.head.Rank, w.head.Ranks = job, int32(rank), int32(ranks)
}

// MostName is how many bytes of a name are kept.
const MostName = 200

// clean makes a name one that the file can have: without the byte that ends one there, and not so long that few would fit.
func clean(name string) string {
	if len(name) <= MostName && strings.IndexByte(name, 0) < 0 {
		return name
	}
	name = strings.ReplaceAll(name[:min(len(name), 4*MostName)], "\x00", "\ufffd")
	if len(name) > MostName {
		end := MostName - len("…")
		for end > 0 && !utf8.RuneStart(name[end]) {
			end--
		}
		name = name[:end] + "…"
	}
	return name
}

// Name returns the number of a region's name. 0 is for those that did not fit. A name that is too long is cut.
func (w *Writer) Name(name string) uint16 {
	name = clean(name)
	w.mu.Lock()
	defer w.mu.Unlock()
	if n, known := w.names[name]; known || w.full || w.head == nil {
		return n
	}
	at := headBytes + int(w.head.NamesLen)
	if at+len(name)+1 > ringAt || len(w.names) == 1<<16-1 {
		w.full = true
		return 0
	}
	copy(w.mem[at:ringAt], name) // the zero behind it is there
	w.head.NamesLen += uint32(len(name)) + 1
	n := uint16(len(w.names) + 1)
	w.names[name] = n
	return n
}

// Close ends the file. Nobody records any more.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lapse(0)
	w.head.Closed = 1
	w.head = nil
	return unmap(w.mem)
}
