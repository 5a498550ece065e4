// Package nearest finds the name that somebody probably meant who wrote another one.
package nearest

import "strings"

// Name returns the known name that fewest changes lead to, if a third of the letters change at most, small or capital; "" if there is none.
func Name(name string, known []string) (near string) {
	best := len(name)/3 + 1
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d < best {
			near, best = k, d
		}
	}
	return near
}

// distance counts the letters to change, add, leave out or swap with their neighbour to make one name of the other.
func distance(a, b string) int {
	var before []int // the row before last
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
