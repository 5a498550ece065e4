package spawn

import (
	"io"
	"os"
)

// notWritten begins what is said of a rank whose output could not be written.
const notWritten = "has output that was not written: "

// output is where the output of a rank goes, which keeps the first error. exec.Cmd.Wait would not return it if the rank ends
// with an error, and most ranks do: their pipe breaks.
type output struct {
	to     io.Writer
	failed error
}

// outputOf returns where the output of a rank goes. The rank itself writes to a file.
func outputOf(rank int, choose func(rank int) io.Writer, usual *os.File) io.Writer {
	if choose == nil {
		return usual
	}
	to := choose(rank)
	if f, ok := to.(*os.File); ok {
		return f
	}
	return &output{to: to}
}

// failureOf returns why output was not written, or nil.
func failureOf(w io.Writer) error {
	if o, ok := w.(*output); ok {
		return o.failed
	}
	return nil
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.to.Write(b)
	if o.failed == nil {
		o.failed = err
	}
	return n, err
}

// Close closes what can be closed.
func (o *output) Close() error {
	if c, ok := o.to.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
