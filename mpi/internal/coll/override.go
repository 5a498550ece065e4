package coll

import (
	"fmt"
	"slices"
	"strings"
)

// Overrides name the algorithm of some kinds, whatever Choose thinks. A nil one
// names none.
type Overrides struct {
	chosen [kinds]Algorithm
}

func (o *Overrides) of(k Kind) Algorithm {
	if o == nil {
		return Automatic
	}
	return o.chosen[k]
}

// Set has the kind done by the algorithm, where it can do that; Automatic takes an override back. Both
// are the words of tables. An error names the words there are.
func (o *Overrides) Set(kind, algorithm string) error {
	k := Kind(slices.Index(kindNames[:], kind))
	if int(k) >= len(kindNames) {
		return fmt.Errorf("there is no operation %q: it is one of %s", kind, strings.Join(kindNames[:], ", "))
	}
	words := []string{Automatic.String()}
	for _, a := range offered[k] {
		words = append(words, a.String())
	}
	if !slices.Contains(words, algorithm) {
		return fmt.Errorf("there is no %s by %q: it is one of %s", kind, algorithm, strings.Join(words, ", "))
	}
	o.chosen[k] = Algorithm(slices.Index(algorithmNames[:], algorithm))
	return nil
}

// Parse sets what a list names, such as "allreduce=rabenseifner,bcast=flat". "automatic" names none.
func (o *Overrides) Parse(list string) error {
	if strings.TrimSpace(list) == Automatic.String() {
		return nil
	}
	for entry := range strings.SplitSeq(list, ",") {
		if entry = strings.TrimSpace(entry); entry == "" {
			continue
		}
		kind, algorithm, found := strings.Cut(entry, "=")
		if !found {
			return fmt.Errorf("%q is not of the form operation=algorithm", entry)
		}
		if err := o.Set(strings.TrimSpace(kind), strings.TrimSpace(algorithm)); err != nil {
			return err
		}
	}
	return nil
}

// String is the list that Parse takes.
func (o *Overrides) String() string {
	var list []string
	for k, a := range o.chosen {
		if a != Automatic {
			list = append(list, kindNames[k]+"="+a.String())
		}
	}
	if list == nil {
		return Automatic.String()
	}
	return strings.Join(list, ",")
}

// Copy returns overrides of their own.
func (o *Overrides) Copy() *Overrides {
	with := *o
	return &with
}
