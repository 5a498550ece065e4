package exs_test

import (
	"io"
	"strings"
	"syscall"
	"testing"

	"gomx/exs"
)

// liar is a file that reads counts that io.ReaderAt does not allow, behind its first 100 bytes.
type liar struct{ count func(asked int) int }

func (l liar) ReadAt(b []byte, at int64) (int, error) {
	if at < 100 {
		return 100, nil
	}
	return l.count(len(b)), nil
}

// forbidden is a file that may not be read.
type forbidden struct{}

func (forbidden) ReadAt([]byte, int64) (int, error) { return 0, syscall.EACCES }

// What the system says of a file is told as it is, and not as if it were about registered memory.
func TestSendFileOfForbiddenFile(t *testing.T) {
	p := newWorld(t, "mem").connect(exs.Stream)
	_, err := p.a.SendFile([]exs.FileVec{{File: forbidden{}, Length: 10}}, exs.Block, nil, nil)
	refused(t, err, exs.EACCES)
	says(t, err, "permission denied", "peer")
	if strings.Contains(err.Error(), "RecvDisable") {
		t.Error(err)
	}
	p.ok(p.a.BlockingClose())
	p.ok(p.b.BlockingClose())
}

// A file whose ReadAt returns what it must not ends its SendFile, and what was read before has been sent.
func TestSendFileOfCountsThatCannotBe(t *testing.T) {
	over(t, both, func(w *world, typ int) {
		for name, count := range map[string]func(asked int) int{
			"more than asked": func(asked int) int { return asked + 5 },
			"below 0":         func(int) int { return -1 },
			"nothing":         func(int) int { return 0 },
		} {
			p := w.connect(typ)
			_, err := p.a.SendFile([]exs.FileVec{{File: liar{count}, Length: 400_000}}, 0, p.qa, nil)
			p.ok(err)
			if e := p.event(p.qa, exs.EvtSendFile, exs.EIO); e.Length != 100 {
				t.Errorf("%s: %d bytes", name, e.Length)
			}
			p.ok(p.a.Close(0, p.qa, nil))
			if got, err := io.ReadAll(p.b); len(got) != 100 || err != nil {
				t.Errorf("%s: %d bytes received, %v", name, len(got), err)
			}
		}
	})
}
