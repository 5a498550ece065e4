package gomx_test

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"testing"

	"gomx/mx"
)

// ofPrograms are variables that tests or a program set for themselves; the last two are misspelt on purpose.
var ofPrograms = []string{"MX_INFO_PARTNER", "MX_TEST_FATAL", "MX_SPINN", "MX_FLAVOUR"}

// TestVariablesExist looks at what code sets in environments: a name that nobody reads has no
// effect, and a test with it does not test what it seems to.
func TestVariablesExist(t *testing.T) {
	h := theHouse(t)
	known := slices.Concat(environmentOfMX(t), environmentOfMPI(t))
	set := regexp.MustCompile(`\b(MX_[A-Z_]+)=`)
	for _, f := range h.files {
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			lit, ok := n.(*ast.BasicLit)
			if !ok || lit.Kind != token.STRING {
				return true
			}
			for _, m := range set.FindAllStringSubmatch(lit.Value, -1) {
				name := m[1]
				if !slices.Contains(ofPrograms, name) && !slices.ContainsFunc(known, func(v mx.Variable) bool { return v.Name == name }) {
					t.Errorf("%v: nothing reads the variable %s", h.set.Position(lit.Pos()), name)
				}
			}
			return true
		})
	}
}

// TestTuningNamesEveryVariable: docs/tuning.md says of each variable what it changes.
func TestTuningNamesEveryVariable(t *testing.T) {
	named := variable.FindAllString(read(t, "docs/tuning.md"), -1)
	for _, v := range slices.Concat(environmentOfMX(t), environmentOfMPI(t)) {
		if !slices.Contains(named, v.Name) {
			t.Errorf("docs/tuning.md does not say what %s changes", v.Name)
		}
	}
}
