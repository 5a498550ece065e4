package main

import "gomx/examples/internal/npb"

// problem is a class, with what must come out.
type problem struct {
	rows  int     // of the matrix, and columns
	terms int     // entries of each of the sparse vectors that the matrix is made of
	steps int     // of the inverse power method
	shift float64 // of the eigenvalues
	zeta  float64 // the estimate after the last step
}

var problems = map[npb.Class]problem{
	"S": {1400, 7, 15, 10, 8.5971775078648},
	"W": {7000, 8, 15, 12, 10.362595087124},
	"A": {14000, 11, 15, 20, 17.130235054029},
	"B": {75000, 13, 75, 60, 22.712745482631},
	"C": {150000, 15, 75, 110, 28.973605592845},
}

// operations is what the benchmark counts for all steps.
func (p problem) operations() float64 {
	entries := float64(p.terms * (p.terms + 1))
	return 2 * float64(p.steps) * float64(p.rows) * (3 + entries + iterations*(5+entries) + 3)
}
