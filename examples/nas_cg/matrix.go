package main

import (
	"math"
	"slices"

	"gomx/examples/internal/npb"
)

const (
	seed      = 314159265
	condition = 0.1 // about the reciprocal of the condition number of the matrix
)

// matrix is some rows of a sparse matrix: the entries of row i are those from start[i] up
// to start[i+1].
type matrix struct {
	start   []uint32
	columns []uint32
	values  []float64
}

// sparse is a vector, most of whose entries are 0.
type sparse struct {
	at     []uint32
	values []float64
}

// makeMatrix makes the rows from begin to end. The matrix is the sum of the outer products
// of sparse random vectors with themselves, of falling weight; on the diagonal, the
// condition is added and the shift subtracted. Sums are made in the order of vectors, so
// that the matrix is the same to the last bit whoever makes it.
func makeMatrix(p problem, begin, end int) *matrix {
	vectors := p.vectors()
	with := make([][]term, end-begin)
	weight, ratio := 1.0, math.Pow(condition, 1/float64(p.rows))
	for i := range vectors {
		v := &vectors[i]
		for k, row := range v.at {
			if begin <= int(row) && int(row) < end {
				with[int(row)-begin] = append(with[int(row)-begin], term{v, weight * v.values[k], int(row) == i})
			}
		}
		weight *= ratio
	}
	m := &matrix{start: make([]uint32, 1, end-begin+1)}
	sum, seen := make([]float64, p.rows), make([]bool, p.rows)
	for i, terms := range with {
		m.addRow(begin+i, terms, condition-p.shift, sum, seen)
	}
	return m
}

// term is what one vector adds to a row: the vector times scale, and something on the
// diagonal where the vector's number is that of the row.
type term struct {
	*sparse
	scale float64
	own   bool
}

// addRow adds a row. The vectors sum and seen are for as many columns as the matrix has,
// and all 0 and false before and after.
func (m *matrix) addRow(row int, terms []term, diagonal float64, sum []float64, seen []bool) {
	first := len(m.columns)
	for _, t := range terms {
		for k, column := range t.at {
			value := t.values[k] * t.scale
			if t.own && int(column) == row {
				value += diagonal
			}
			if !seen[column] {
				seen[column] = true
				m.columns = append(m.columns, column)
			}
			sum[column] += value
		}
	}
	slices.Sort(m.columns[first:])
	for _, column := range m.columns[first:] {
		m.values = append(m.values, sum[column])
		sum[column], seen[column] = 0, false
	}
	m.start = append(m.start, uint32(len(m.columns)))
}

// vectors makes the random vectors, one for each row. Each has p.terms random entries at
// random places and one half at the place that has its own number.
func (p problem) vectors() []sparse {
	r := npb.Random(seed)
	r.Next() // the benchmark makes one number ahead
	places := 1
	for places < p.rows {
		places *= 2
	}
	vectors := make([]sparse, p.rows)
	for i := range vectors {
		v := &vectors[i]
		for len(v.at) < p.terms {
			value, place := r.Next(), uint32(float64(places)*r.Next())
			if int(place) < p.rows && !slices.Contains(v.at, place) {
				v.at, v.values = append(v.at, place), append(v.values, value)
			}
		}
		if own := slices.Index(v.at, uint32(i)); own >= 0 {
			v.values[own] = 0.5
		} else {
			v.at, v.values = append(v.at, uint32(i)), append(v.values, 0.5)
		}
	}
	return vectors
}

// times multiplies the rows with a vector. Four sums at a time keep the processor busy.
func (m *matrix) times(x, product []float64) {
	for i := range product {
		begin, end := m.start[i], m.start[i+1]
		columns, values := m.columns[begin:end], m.values[begin:end]
		var a, b, c, d float64
		for len(columns) >= 4 && len(values) >= 4 {
			a += values[0] * x[columns[0]]
			b += values[1] * x[columns[1]]
			c += values[2] * x[columns[2]]
			d += values[3] * x[columns[3]]
			columns, values = columns[4:], values[4:]
		}
		for k, column := range columns {
			a += values[k] * x[column]
		}
		product[i] = (a + b) + (c + d)
	}
}
