package variables

import "strings"

// Stranger is a variable that nothing reads.
type Stranger struct {
	Name string
	Near string // the known name that it is most like; "" if it is like none
}

// Strangers returns the variables of an environment, as os.Environ returns it, whose names begin with prefix and are not known.
func Strangers(environment []string, prefix string, known []string) (all []Stranger) {
	isKnown := map[string]bool{}
	for _, name := range known {
		isKnown[name] = true
	}
	for _, word := range environment {
		name, _, _ := strings.Cut(word, "=")
		if strings.HasPrefix(name, prefix) && !isKnown[name] {
			all = append(all, Stranger{name, nearest(name, known)})
		}
	}
	return all
}

// nearest returns the name that fewest changes lead to, if a third of the letters stay at most otherwise.
func nearest(name string, known []string) (near string) {
	best := len(name)/3 + 1
	for _, k := range known {
		if d := distance(name, k); d < best {
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
