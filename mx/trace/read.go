package trace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gomx/mx/internal/tracefile"
)

// Errors of Read and Merge.
var (
	ErrNotTrace = tracefile.ErrNotTrace // a file is something else, or was cut within its head
	ErrVersion  = tracefile.ErrVersion  // a file is of another version of gomx
	ErrNone     = errors.New("there is no trace")
	ErrMixed    = errors.New("traces of different jobs")
	ErrTwice    = errors.New("two files of one trace")
)

// File is the trace of one endpoint.
type File struct {
	Path string
	file *tracefile.File
}

// Read reads trace files. Of a folder it reads all files whose names end in .mxtrace. The error is that of the first file that can't be read, and
// names it; ErrNone if there is none. A file that was cut is read as far as it goes.
func Read(paths ...string) ([]*File, error) {
	var files []*File
	for _, path := range paths {
		list, err := filesIn(path)
		if err != nil {
			return nil, err
		}
		for _, name := range list {
			f, err := tracefile.Read(name)
			if err != nil {
				return nil, err
			}
			files = append(files, &File{name, f})
		}
	}
	if len(files) == 0 {
		return nil, ErrNone
	}
	return files, nil
}

// irregular is what no trace is, and what may keep whoever opens it.
const irregular = fs.ModeNamedPipe | fs.ModeSocket | fs.ModeDevice | fs.ModeCharDevice | fs.ModeIrregular

// filesIn returns a file, or those of a folder.
func filesIn(path string) (list []string, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	case err != nil:
		return nil, err
	case info.Mode()&irregular != 0:
		return nil, fmt.Errorf("%s: %w", path, ErrNotTrace)
	case !info.IsDir():
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := filepath.Join(path, e.Name())
		if info, err := os.Stat(name); strings.HasSuffix(name, tracefile.Suffix) && (err != nil || info.Mode()&irregular == 0) {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: %w in that folder: no name ends in %s", path, ErrNone, tracefile.Suffix)
	}
	slices.Sort(list)
	return list, nil
}
