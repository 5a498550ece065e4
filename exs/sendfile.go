package exs

import (
	"errors"
	"io"
	"os"
	"slices"

	"gomx/internal/labels"
)

// FileVec is a piece of what SendFile sends: of a File, of the file at Path, which is
// opened and closed, or Bytes. Length below 0 is all there is from Offset on.
type FileVec struct {
	File           io.ReaderAt
	Path           string
	Bytes          []byte
	Offset, Length int64
	Memory         *Memory // of Bytes, or Unregistered
}

// filePiece is how much of a file is in memory at a time, and the longest packet that it
// is sent in.
const filePiece = 256 << 10

// SendFile starts to send pieces of files and of memory, one after the other
// (exs_sendfile). Nothing that is sent later on the socket gets in between. Over a
// SeqPacket socket they go in packets of 256 KiB at most, none of which has bytes of two
// pieces. An event of type EvtSendFile says how many bytes were sent; with Block the call
// waits for that. Errors of the call are those of Send, and EINVAL for a piece that is
// none. A file that can't be opened or read ends it with the number that the system
// gives, or EIO; so does one that is shorter than Length, or whose ReadAt returns a count that io.ReaderAt does not allow: below
// 0, above what it was asked for, or 0 without an error.
//
// The operation ends like other sends, by Cancel or with its connection, also while a file does not answer: a pipe that
// nobody writes to, or a server that is away. The read then goes on by itself until the file answers, what it brings is
// dropped, and a file of Path is closed.
func (s *Socket) SendFile(vec []FileVec, flags Flags, q *Queue, ahandle any) (int64, error) {
	if s.none() {
		return 0, s.fail("sendfile", EBADF)
	}
	for i := range vec {
		if !vec[i].valid() {
			return 0, wrong("sendfile", "element %d names no file, or a part that is none", i)
		}
	}
	s.mu.Lock()
	n := s.life.CanSend()
	if n == 0 && s.sending >= s.options.credits {
		n = s.credit(flags, true)
	}
	if n == 0 && flags&^sendFlags != 0 {
		n = EINVAL
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
	length, _, n := s.await(o)
	if n != 0 {
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

// fileSend is a SendFile under way, or another send that waits behind one. A goroutine reads the files, for which nobody waits:
// the operation may end before it.
type fileSend struct {
	s    *Socket
	o    *op
	vec  []FileVec
	runs bool // there is a goroutine
	sent int64
	part *op   // the send of a part that is under way
	why  Errno // it ends so, once that has ended
	over bool  // the operation has ended
}

// run sends all of it, then ends the operation and lets the next ones go.
func (f *fileSend) run() {
	n := f.all()
	s := f.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if !f.hasEnded() {
		f.end(n)
		s.settle()
	}
}

// hasEnded reports whether the operation has, by itself or with the library.
func (f *fileSend) hasEnded() bool { return f.over || f.s.released }

// end ends the operation. What waits behind it goes on when the socket settles.
func (f *fileSend) end(n Errno) {
	f.over = true
	f.o.length = int(f.sent)
	f.s.finish(f.o, n)
}

// stop ends the operation before its time: at once while a file is read, else with the part that is under way, which may be memory of
// the program's.
func (f *fileSend) stop(n Errno) {
	if f.over || f.why != 0 {
		return
	}
	if f.why = n; f.part == nil {
		f.end(n)
	}
}

func (f *fileSend) all() Errno {
	buf := make([]byte, filePiece)
	for i := range f.vec {
		if n := f.piece(&f.vec[i], buf); n != 0 {
			return n
		}
	}
	return 0
}

func (f *fileSend) piece(v *FileVec, buf []byte) Errno {
	from := v.File
	switch {
	case v.Bytes != nil:
		b := v.Bytes[v.Offset:]
		if v.Length >= 0 {
			b = b[:v.Length]
		}
		for len(b) > 0 {
			n := min(len(b), filePiece)
			if err := f.put(b[:n], v.Memory); err != 0 {
				return err
			}
			b = b[n:]
		}
		return 0
	case v.Path != "":
		file, err := os.Open(v.Path)
		if err != nil {
			return errnoOf(err, EIO)
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
		if n < 0 || n > len(want) || n == 0 && err == nil { // io.ReaderAt allows none of these
			return EIO
		}
		if n > 0 {
			if bad := f.put(want[:n], nil); bad != 0 {
				return bad
			}
			at += int64(n)
			left -= int64(min(n, int(max(left, 0))))
		}
		switch {
		case errors.Is(err, io.EOF) && v.Length < 0:
			return 0
		case errors.Is(err, io.EOF) && left > 0:
			return EIO
		case err != nil && !errors.Is(err, io.EOF):
			return errnoOf(err, EIO)
		}
	}
	return 0
}

// put sends some bytes and waits until they have left.
func (f *fileSend) put(b []byte, m *Memory) Errno {
	s := f.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.hasEnded() {
		return ECANCELED // which nobody hears
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

// dispatchSend hands a send to the socket's way of sending.
func (s *Socket) dispatchSend(o *op) {
	if s.stream != nil {
		s.sendBytes(o)
	} else {
		s.sendPacket(o)
	}
}

// moveFiles starts the first SendFile, and lets those sends go that none is before.
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

// endFiles ends a SendFile and what waits behind it, since nothing can be sent any more.
func (s *Socket) endFiles(n Errno) {
	for _, f := range s.files {
		f.stop(n)
	}
}

// cancelFile takes back a SendFile, or a send that waits behind one, and reports whether it could.
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
