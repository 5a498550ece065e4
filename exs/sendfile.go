package exs

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"gomx/exs/internal/errno"
	"gomx/internal/labels"
)

// FileVec is a piece of what SendFile sends: of a File, of the file at Path, which is
// opened and closed, or Bytes. A Length below 0 means everything from Offset on.
type FileVec struct {
	File           io.ReaderAt
	Path           string
	Bytes          []byte
	Offset, Length int64
	Memory         *Memory // of Bytes, or Unregistered
}

// filePiece is how much of a file is in memory at a time, and the length of the longest packet of it.
const filePiece = 256 << 10

// SendFile starts to send pieces of files and of memory, one after the other
// (exs_sendfile). Data of later sends on the socket follows behind all of them. On a SeqPacket socket they are sent in packets of
// at most 256 KiB, and no packet has bytes of two
// pieces. An event of type EvtSendFile says how many bytes were sent; with Block the call
// waits for that. Errors of the call are those of Send, and EINVAL for a piece that is
// not valid. If a file can't be opened or read, the operation ends with the error number of the system, or EIO. It also does
// if a file is shorter than Length, or if its ReadAt returns a count that io.ReaderAt does not allow: a negative one, one
// above the length of the buffer, or 0 without an error. A pipe is sent as it comes, from its beginning: an Offset in it ends the
// operation with ESPIPE.
//
// Cancel, and the end of the connection, end the operation as they end other sends, even while a read of a file blocks: of a pipe
// without a writer, or of a file server that does not answer. The read then goes on in the background until it returns; its data is
// discarded, and a file of Path is closed.
func (s *Socket) SendFile(vec []FileVec, flags Flags, q *Queue, ahandle any) (int64, error) {
	if err := s.present("sendfile"); err != nil {
		return 0, err
	}
	for i := range vec {
		if !vec[i].valid() {
			return 0, s.wrong("sendfile", "element %d names no file, or a part that is none", i)
		}
	}
	s.mu.Lock()
	n := s.life.CanSend()
	if n == 0 && s.sending >= s.options.credits {
		n = s.credit(flags, true)
	}
	switch {
	case n != 0:
	case flags&^sendFlags != 0:
		n = EINVAL
	case s.special != nil:
		n = s.maySend(nil, flags, nowhere, q)
	}
	var o *op
	if n == 0 {
		o, n = s.begin(EvtSendFile, flags, q, ahandle)
	}
	if n != 0 {
		s.mu.Unlock()
		return 0, s.unsuited("sendfile", n, flags, q, nil)
	}
	s.sending++
	f := &fileSend{s: s, o: o, vec: append([]FileVec(nil), vec...)}
	s.files = append(s.files, f)
	s.moveFiles()
	s.mu.Unlock()
	if flags&Block == 0 {
		return 0, nil
	}
	length, x, n := s.await(o)
	switch {
	case n != 0 && x != nil:
		return int64(length), s.named(x.failure("sendfile", n))
	case n != 0:
		return int64(length), s.fail("sendfile", n)
	}
	return int64(length), nil
}

func (v *FileVec) valid() bool {
	kinds := 0
	for _, is := range []bool{v.File != nil, v.Path != "", v.Bytes != nil} {
		if is {
			kinds++
		}
	}
	return kinds == 1 && v.Offset >= 0 && (v.Bytes == nil || v.Offset <= int64(len(v.Bytes)) && v.Length <= int64(len(v.Bytes))-v.Offset)
}

// fileSend is a SendFile under way, or another send that waits behind one. A goroutine reads the files. Nothing waits for that
// goroutine, so the operation may end before it.
type fileSend struct {
	s    *Socket
	o    *op
	vec  []FileVec
	runs bool // the goroutine has started
	sent int64
	part *op   // the send of a part that is under way
	why  Errno // how the operation ends when part has ended, or 0
	over bool  // the operation has ended
}

// run sends everything, ends the operation, and starts the next ones.
func (f *fileSend) run() {
	n, cause := f.all()
	s := f.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if !f.hasEnded() {
		if cause != nil {
			f.o.extra = &extra{cause: cause}
		}
		f.end(n)
		s.settle()
	}
}

// hasEnded reports whether the operation has ended, by itself or with the library.
func (f *fileSend) hasEnded() bool { return f.over || f.s.released }

// end ends the operation. What waits behind it goes on when the socket settles.
func (f *fileSend) end(n Errno) {
	f.over = true
	f.o.length = int(f.sent)
	f.s.finish(f.o, n)
}

// stop ends the operation early. It ends at once while a file is read, and otherwise with the part that is being sent, which may be
// memory of the program.
func (f *fileSend) stop(n Errno) {
	if f.over || f.why != 0 {
		return
	}
	if f.why = n; f.part == nil {
		f.end(n)
	}
}

// all sends all elements. The error says why one could not be read.
func (f *fileSend) all() (Errno, error) {
	buf := make([]byte, filePiece)
	for i := range f.vec {
		n, err := f.piece(&f.vec[i], buf)
		if err != nil {
			return errnoOf(err, EIO), fmt.Errorf("element %d: %w", i, err)
		}
		if n != 0 {
			return n, nil
		}
	}
	return 0, nil
}

// piece sends an element. The error is that of reading it.
func (f *fileSend) piece(v *FileVec, buf []byte) (Errno, error) {
	from := v.File
	switch {
	case v.Bytes != nil:
		b := v.Bytes[v.Offset:]
		if v.Length >= 0 {
			b = b[:v.Length]
		}
		for len(b) > 0 {
			n := min(len(b), filePiece)
			if bad := f.put(b[:n], v.Memory); bad != 0 {
				return bad, nil
			}
			b = b[n:]
		}
		return 0, nil
	case v.Path != "":
		file, err := os.Open(v.Path)
		if err != nil {
			return 0, err
		}
		defer file.Close()
		from = file
	}
	for at, left := v.Offset, v.Length; left != 0; {
		want := buf
		if left > 0 && left < int64(len(want)) {
			want = want[:left]
		}
		n, err := from.ReadAt(want, at)
		if stream, is := from.(io.Reader); is && at == 0 && errors.Is(err, errno.ESPIPE) {
			from = inTurn{stream}
			continue
		}
		if n < 0 || n > len(want) || n == 0 && err == nil { // io.ReaderAt allows none of these
			return 0, fmt.Errorf("ReadAt of %d bytes at %d returns %d and %v, which io.ReaderAt does not allow", len(want), at, n, err)
		}
		if n > 0 {
			if bad := f.put(want[:n], nil); bad != 0 {
				return bad, nil
			}
			at += int64(n)
			left -= int64(min(n, int(max(left, 0))))
		}
		switch {
		case errors.Is(err, io.EOF) && v.Length < 0:
			return 0, nil
		case errors.Is(err, io.EOF) && left > 0:
			return 0, fmt.Errorf("the file ends at %d, %d bytes before Offset and Length do", at, left)
		case err != nil && !errors.Is(err, io.EOF):
			return 0, err
		}
	}
	return 0, nil
}

// inTurn is a pipe, or another file of which the bytes can only be read one after the other.
type inTurn struct{ io.Reader }

// ReadAt returns the next bytes, wherever that is.
func (f inTurn) ReadAt(b []byte, _ int64) (int, error) { return f.Read(b) }

// put sends some bytes and waits until they have left.
func (f *fileSend) put(b []byte, m *Memory) Errno {
	s := f.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.hasEnded() {
		return ECANCELED // run ignores it, because the operation has ended
	}
	o, n := s.start(EvtSend, b, nil, Block, nil, nil, m)
	if n != 0 {
		return n
	}
	s.sending++
	f.part = o
	s.dispatchSend(o)
	s.mu.Unlock()
	ended := s.waitFor(o, o)
	s.mu.Lock()
	f.part = nil
	if !ended {
		return ECANCELED
	}
	f.sent += int64(o.length)
	if n = o.errno; n == 0 {
		n = f.why
	}
	s.recycle(o)
	return n
}

// dispatchSend starts a send as the type of the socket requires.
func (s *Socket) dispatchSend(o *op) {
	switch {
	case s.stream != nil:
		s.sendBytes(o)
	case s.special != nil && s.special.far[toWrite].open && !s.isPart(o):
		s.approach(o, toWrite)
	default:
		s.sendPacket(o)
	}
}

// moveFiles starts the first SendFile and the sends that no SendFile precedes.
func (s *Socket) moveFiles() {
	for len(s.files) > 0 {
		f := s.files[0]
		if !f.over && f.o.kind == EvtSendFile {
			if !f.runs {
				f.runs = true
				go labels.For("exs sendfile").Func(f.run)()
			}
			return
		}
		s.files = s.files[1:]
		if !f.over {
			s.dispatchSend(f.o)
		}
	}
	s.files = nil
}

// endFiles ends a SendFile and the sends behind it, since nothing can be sent any more.
func (s *Socket) endFiles(n Errno) {
	for _, f := range s.files {
		f.stop(n)
	}
}

// cancelFile cancels a SendFile, or a send that waits behind one, and reports whether that was possible.
func (s *Socket) cancelFile(o *op) bool {
	i := slices.IndexFunc(s.files, func(f *fileSend) bool { return f.o == o && !f.over && f.why == 0 })
	if i < 0 {
		return false
	}
	f := s.files[i]
	if f.part != nil && f.part.live {
		s.takeBack(f.part)
	}
	f.stop(ECANCELED)
	return true
}

// isPart reports whether an operation is the send of a part of a SendFile, of which the program does not know.
func (s *Socket) isPart(o *op) bool { return len(s.files) > 0 && s.files[0].part == o }
