package turns

import (
	"fmt"
)

// Shape is how the processes of a program are started.
type Shape int

// The shapes.
const (
	Ranks      Shape = iota // by a launcher of ranks
	Pair                    // one with -serve, one without
	Alone                   // one, which starts others itself
	Goroutines              // ranks that are goroutines of one
)

// Traffic is what the messages of a row are: none that is counted, pings or windows.
type Traffic int

// Kinds of traffic.
const (
	uncounted Traffic = iota
	Pings
	Windows
)

// Row is one line of the table: a program and its arguments.
type Row struct {
	Name    string
	Unit    string // of the figure; "" is us
	Program string
	Args    []string
	Shape   Shape
	Ranks   int
	MPIs    bool // the MPIs do the same
	Sockets bool // the same program does it over TCP and over Unix sockets
	More    bool // measured only if -only is given
	Quick   bool // measured with -quick

	// Over is the row's own medium, whatever is asked for; "" is what is asked for.
	Over string

	// Whole rows have the seconds from the start of the launcher to its end for their figure.
	Whole bool

	// Of rows in which messages go to and fro, or many at a time: how long each is. What the medium gives stands beside them.
	Traffic Traffic
	Length  int

	Curve Curve
	Bar   Bar

	// Memory is how many bytes the row takes on this machine, about. Less than that available, and it is left out.
	Memory int64

	// Not has the reasons why some subjects, by their names, are not measured with this row.
	Not map[string]string
}

// Curve says where a row stands in a picture. Rows of one curve come in the order of At.
type Curve struct {
	Picture, Panel string
	Name           string // tells the curves of a subject apart; "" if there is one
	At             int
}

// medium is what the messages of a row travel over.
func (r Row) medium(asked string) string {
	if r.Over != "" {
		return r.Over
	}
	return asked
}

// onCurveOf reports whether two rows are of one curve.
func (r Row) onCurveOf(other Row) bool {
	r.Curve.At = other.Curve.At
	return r.Curve == other.Curve && r.Curve.Panel != ""
}

// Size is a length in the unit in which it is a small number.
func Size(length int) string {
	switch {
	case length >= 1<<30:
		return fmt.Sprint(length>>30, " GiB")
	case length >= 1<<20:
		return fmt.Sprint(length>>20, " MiB")
	case length >= 1<<10:
		return fmt.Sprint(length>>10, " KiB")
	}
	return fmt.Sprint(length, " B")
}

// Number is a number with commas: 10,000.
func Number(n int) string {
	digits := fmt.Sprint(n)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
