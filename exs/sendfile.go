package exs

import (
	"errors"
	"io"
	"os"
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
// gives, or EIO; so does one that is shorter than Length.
func (s *Socket) SendFile(vec []FileVec, flags Flags, q *Queue, ahandle any) (int64, error) {
	if s == nil {
		return 0, fail("sendfile", EBADF)
	}
	for i := range vec {
		if !vec[i].valid() {
			return 0, fail("sendfile", EINVAL)
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
		return 0, s.fail("sendfile", n)
	}
	s.sending++
	f := &fileSend{s: s, o: o, vec: append([]FileVec(nil), vec...)}
	s.files = append(s.files, f)
	if len(s.files) == 1 {
		s.l.work.Go(f.run)
	}
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

// fileSend is a SendFile under way, or another send that waits behind one.
type fileSend struct {
	s    *Socket
	o    *op
	vec  []FileVec
	sent int64
}

// run sends all of it, then ends the operation and lets the next ones go.
func (f *fileSend) run() {
	n := f.all()
	s := f.s
	s.mu.Lock()
	defer s.mu.Unlock()
	f.o.length = int(f.sent)
	s.finish(f.o, n)
	s.nextFile()
	s.settle()
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
	if s.fate != 0 || s.stops {
		defer s.mu.Unlock()
		if s.fate != 0 {
			return s.fate
		}
		return EPIPE
	}
	o, n := s.start(EvtSend, b, nil, Block, nil, nil, m)
	if n != 0 {
		s.mu.Unlock()
		return n
	}
	s.sending++
	s.dispatchSend(o)
	s.mu.Unlock()
	length, _, n := s.await(o)
	f.sent += int64(length)
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

// nextFile lets those go that waited behind a SendFile.
func (s *Socket) nextFile() {
	s.files = s.files[1:]
	for len(s.files) > 0 {
		f := s.files[0]
		if f.o.kind == EvtSendFile {
			s.l.work.Go(f.run)
			return
		}
		s.files = s.files[1:]
		switch {
		case s.fate != 0:
			s.finish(f.o, s.fate)
		case s.stops:
			s.finish(f.o, EPIPE)
		default:
			s.dispatchSend(f.o)
		}
	}
	s.files = nil
}
