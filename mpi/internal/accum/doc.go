// Package accum combines elements in memory that peers may accumulate into: the predefined
// operations on all types of numbers, on bytes and a kind that says what they are.
package accum
