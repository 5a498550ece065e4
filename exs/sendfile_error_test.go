package exs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gomx/exs"
)

// failingReader fails with an error of its own.
type failingReader struct{ err error }

func (r failingReader) ReadAt([]byte, int64) (int, error) { return 0, r.err }

// TestSendFileSaysWhichAndWhy: the error of a SendFile that blocks has the number of the element, and what was wrong with its file.
func TestSendFileSaysWhichAndWhy(t *testing.T) {
	name := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(name, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	closed, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	onFire := errors.New("the disk is on fire")
	over(t, both, func(w *world, typ int) {
		p := w.connect(typ)
		for what, c := range map[string]struct {
			v     exs.FileVec
			n     exs.Errno
			cause error
			says  string
		}{
			"missing":   {exs.FileVec{Path: name + "er", Length: -1}, exs.Errno(2), fs.ErrNotExist, name + "er"},
			"closed":    {exs.FileVec{File: closed, Length: -1}, exs.EIO, fs.ErrClosed, "closed"},
			"own error": {exs.FileVec{File: failingReader{onFire}, Length: -1}, exs.EIO, onFire, "on fire"},
			"short":     {exs.FileVec{Path: name, Length: 5}, exs.EIO, exs.EIO, "ends at 3, 2 bytes before"},
		} {
			_, err := p.a.SendFile([]exs.FileVec{{Bytes: []byte{}}, c.v}, exs.Block, nil, nil)
			if !errors.Is(err, c.n) || !errors.Is(err, c.cause) || !strings.Contains(err.Error(), "element 1: ") || !strings.Contains(err.Error(), c.says) ||
				!strings.Contains(err.Error(), "peer ") {
				t.Errorf("%s: %v", what, err)
			}
		}
	})
}
