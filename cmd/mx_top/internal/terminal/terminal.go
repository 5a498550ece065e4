// Package terminal draws on the user's terminal and reads single keys from it. Nobody who draws ever waits for the
// terminal: one that takes no output, because it is stopped or nothing reads it, holds up neither signals nor the end.
//
// It relies on a file that is a terminal; throwing away output that it has not taken changes nothing but that.
package terminal

import (
	"errors"
	"io"
	"os"
	"time"

	"golang.org/x/term"
)

// ErrNone is that of Open for a standard input or output that is none.
var ErrNone = errors.New("the standard input and output are no terminal")

// ErrDumb is that of Open for a terminal that obeys no sequences, as the variable TERM says.
var ErrDumb = errors.New("TERM says that this terminal can't be drawn on")

// What terminals since the VT100 obey.
const (
	enter = "\x1b[?1049h\x1b[?25l" // another screen, without a cursor
	leave = "\x1b[?25h\x1b[?1049l"
)

// patience is how long Close waits for the terminal to take what it has to, twice.
const patience = 300 * time.Millisecond

// Terminal is one that shows another screen, and passes keys on as they are pressed. One goroutine may use it.
type Terminal struct {
	in, out *os.File
	before  *term.State
	keys    chan string
	frames  chan string   // the frame to draw next
	drawn   chan struct{} // closed when nothing is drawn any more
	lost    chan error
}

// Open takes over the terminal that both are. Close gives it back.
func Open(stdin io.Reader, stdout io.Writer) (*Terminal, error) {
	in, isFile := stdin.(*os.File)
	out, isFile2 := stdout.(*os.File)
	if !isFile || !isFile2 || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return nil, ErrNone
	}
	if name := os.Getenv("TERM"); name == "" || name == "dumb" {
		return nil, ErrDumb
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	t := &Terminal{
		in: in, out: out, before: before,
		keys: make(chan string), frames: make(chan string, 1), drawn: make(chan struct{}), lost: make(chan error, 1),
	}
	go t.draw()
	go readKeys(in, t.keys)
	return t, nil
}

// Keys are those that are pressed, as readKeys sends them. The channel is closed when the terminal has gone.
func (t *Terminal) Keys() <-chan string { return t.keys }

// Lost has the error of drawing, after which nothing is drawn.
func (t *Terminal) Lost() <-chan error { return t.lost }

// Size returns the columns and lines.
func (t *Terminal) Size() (width, height int, err error) { return term.GetSize(int(t.out.Fd())) }

// Draw has a frame drawn as soon as the terminal takes it. It takes the place of one that has to wait still.
func (t *Terminal) Draw(frame string) {
	select {
	case <-t.frames:
	default:
	}
	t.frames <- frame
}

// Close makes the terminal what it was before Open. Output that it does not take is thrown away.
func (t *Terminal) Close() error {
	t.Draw(leave)
	close(t.frames)
	if !t.finished() {
		discard(t.out)
		t.finished()
	}
	return term.Restore(int(t.in.Fd()), t.before)
}

// finished tells whether everything is drawn, or will never be, within patience.
func (t *Terminal) finished() bool {
	select {
	case <-t.drawn:
		return true
	case <-time.After(patience):
		return false
	}
}

func (t *Terminal) draw() {
	defer close(t.drawn)
	_, err := io.WriteString(t.out, enter)
	for frame := range t.frames {
		if err == nil {
			_, err = io.WriteString(t.out, frame)
		}
		if err != nil {
			t.lost <- err
			return
		}
	}
}
