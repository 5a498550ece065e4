package gomx_test

import (
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// interfaces are the packages that programs are written against. Their promise is in docs of their own.
var interfaces = []string{"mx", "exs", "mpi"}

// TestDocumentationOfInterfaces: what go doc shows of an interface is its own, and leads to no package that may change in any version.
func TestDocumentationOfInterfaces(t *testing.T) {
	for _, pkg := range interfaces {
		foreign := regexp.MustCompile(`\b(` + strings.Join(namesBelow(t, pkg), "|") + `)\.[A-Z]\w*`)
		text, err := exec.Command("go", "doc", "-all", "./"+pkg).CombinedOutput()
		if err != nil {
			t.Fatalf("go doc %s: %v\n%s", pkg, err, text)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if at := foreign.FindString(line); at != "" {
				t.Errorf("go doc %s shows %s: %s", pkg, at, strings.TrimSpace(line))
			}
		}
	}
}

// namesBelow returns the names of the packages that an interface may import, but for interfaces.
func namesBelow(t *testing.T, pkg string) (names []string) {
	t.Helper()
	for _, below := range arrows[pkg] {
		if !slices.Contains(interfaces, below) {
			names = append(names, path.Base(below))
		}
	}
	if len(names) == 0 {
		t.Fatalf("nothing is below %s", pkg)
	}
	return names
}
