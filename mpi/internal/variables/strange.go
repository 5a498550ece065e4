package variables

import (
	"strings"

	"gomx/internal/nearest"
)

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
			all = append(all, Stranger{name, nearest.Name(name, known)})
		}
	}
	return all
}
