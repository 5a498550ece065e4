// Package turns is what bench/compare and bench/scale are made of: a program is a table of rows, each a program of
// bench/ordinary with its arguments, that is measured with gomx and with whatever stands beside it on this machine.
//
// In each round every subject of a row runs once, one after the other, each round with another one first, so that what
// drifts, drifts for all; the figure is the median of the rounds. What the machine lacks, what fails and what does not end
// in time is named in the table.
//
// Where to read next: program.go and row.go are what a program says of itself, options.go its flags, subjects.go beside what
// gomx is measured, run.go how, table.go, markdown.go and stored.go how figures are written and read again, bars.go what
// gomx is meant to reach.
//
// A Program may be used by one goroutine at a time.
package turns
