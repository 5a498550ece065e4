package gomx_test

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gomx/mpi"
	"gomx/mx"
)

// documents returns the texts for people.
func documents(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	for _, name := range theHouse(t).paths {
		if path.Ext(name) == ".md" {
			texts[name] = read(t, name)
		}
	}
	for _, name := range []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/wire.md", "docs/performance.md"} {
		if texts[name] == "" {
			t.Errorf("%s is missing", name)
		}
	}
	return texts
}

// TestReadmePrograms wants the programs of README.md to be those of examples, as they are.
func TestReadmePrograms(t *testing.T) {
	pieces := strings.Split(read(t, "README.md"), "```go\n")[1:]
	folders := []string{"hello_mpi", "hello_exs", "hello"}
	if len(pieces) != len(folders) {
		t.Fatalf("README.md shows %d programs, want %d", len(pieces), len(folders))
	}
	for i, folder := range folders {
		program, _, _ := strings.Cut(pieces[i], "```\n")
		if want := read(t, "examples/"+folder+"/main.go"); program != want {
			t.Errorf("program %d of README.md is not examples/%s/main.go:\n%s\nwant\n%s", i+1, folder, program, want)
		}
	}
}

func TestReadmeCommands(t *testing.T) {
	readme := read(t, "README.md")
	for _, command := range []string{"go run ./cmd/mx_pingpong", "go test ./...", "go run ./bench/compare"} {
		if !strings.Contains(readme, "\n    "+command+"\n") {
			t.Errorf("README.md does not show the command %q", command)
		}
	}
}

var (
	linkPattern  = regexp.MustCompile(`\]\(([^)#:]+)(?:#[^)]*)?\)`)
	fencePattern = regexp.MustCompile("(?s)```.*?```")
	codePattern  = regexp.MustCompile("`([^`\n]+)`")
	linePattern  = regexp.MustCompile(`(?m)^    (\S.*)$`)
	namePattern  = regexp.MustCompile(`\b(mx|mpi|wire)\.([A-Z]\w*)`)
	variable     = regexp.MustCompile(`\bMX_[A-Z_]+\b`)
)

// TestDocumentsTellTheTruth looks for files, commands, flags, names and variables
// that documents mention and that don't exist.
func TestDocumentsTellTheTruth(t *testing.T) {
	h := theHouse(t)
	variables := slices.Concat(environmentOfMX(t), environmentOfMPI(t))
	for name, text := range documents(t) {
		for _, m := range linkPattern.FindAllStringSubmatch(fencePattern.ReplaceAllString(text, ""), -1) {
			if to := path.Join(path.Dir(name), m[1]); !h.exists(to) {
				t.Errorf("%s links to %s, which does not exist", name, to)
			}
		}
		for _, m := range codePattern.FindAllStringSubmatch(text, -1) {
			h.checkCode(t, name, m[1])
		}
		for _, m := range linePattern.FindAllStringSubmatch(text, -1) {
			h.checkCommand(t, name, m[1])
		}
		for _, m := range namePattern.FindAllStringSubmatch(text, -1) {
			dir := map[string]string{"mx": "mx", "mpi": "mpi", "wire": "transport/wire"}[m[1]]
			if !h.declares(dir, m[2]) {
				t.Errorf("%s mentions %s, which does not exist", name, m[0])
			}
		}
		for _, m := range variable.FindAllString(text, -1) {
			if !slices.ContainsFunc(variables, func(v mx.Variable) bool { return v.Name == m }) {
				t.Errorf("%s mentions the variable %s, which does not exist", name, m)
			}
		}
	}
}

// checkCode looks at what stands between backquotes: a command, a file or a folder.
func (h *house) checkCode(t *testing.T, document, code string) {
	if strings.Contains(code, " ") {
		h.checkCommand(t, document, code)
		return
	}
	first, _, deep := strings.Cut(code, "/")
	isFile := slices.Contains([]string{".go", ".md", ".txt", ".c", ".svg"}, path.Ext(code))
	if isFile || deep && (h.exists(first) || first == "internal") {
		there := h.exists(code) || slices.ContainsFunc(h.paths, func(p string) bool {
			return strings.Contains(p+"/", "/"+code+"/")
		})
		if !there {
			t.Errorf("%s mentions %s, which does not exist", document, code)
		}
	}
}

// checkCommand looks at go run and go test: the folders, and the flags of our own
// programs.
func (h *house) checkCommand(t *testing.T, document, line string) {
	line, _, _ = strings.Cut(line, " && ") // what follows is no command of go
	words := strings.Fields(line)
	if len(words) < 3 || words[0] != "go" {
		return
	}
	program := ""
	for _, word := range words[2:] {
		folder, local := strings.CutPrefix(strings.TrimSuffix(word, "/..."), "./")
		switch {
		case local && word != "./..." && !h.exists(folder):
			t.Errorf("%s: %q: there is no %s", document, line, word)
		case local && words[1] == "run" && (program == "" || program == "cmd/mx_run"):
			program = folder // what follows mx_run's program are that program's flags
		case program != "" && strings.HasPrefix(word, "-") && !h.hasFlag(program, strings.TrimLeft(word, "-")):
			t.Errorf("%s: %q: %s has no flag %s", document, line, program, word)
		}
	}
}

// hasFlag reports whether a program names the flag where flags are declared, itself or in a package of cmd/internal or
// bench/internal that it imports. Those of internal/cmdline are there without.
func (h *house) hasFlag(program, name string) (found bool) {
	declared := []string{program}
	for _, f := range h.program() {
		for _, imported := range f.imports {
			if dir := strings.TrimPrefix(imported, module+"/"); f.dir == program && (within("cmd/internal", dir) || within("bench/internal", dir)) {
				declared = append(declared, dir)
			}
		}
	}
	for _, f := range h.program() {
		if !slices.Contains(declared, f.dir) {
			continue
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			for _, arg := range call.Args {
				if lit, ok := arg.(*ast.BasicLit); ok && lit.Kind == token.STRING && lit.Value == `"`+name+`"` {
					found = true
				}
			}
			return true
		})
	}
	return found || slices.Contains([]string{"h", "version", "completion"}, name)
}

// declares reports whether the package in dir declares name.
func (h *house) declares(dir, name string) bool {
	return slices.ContainsFunc(h.program(), func(f goFile) bool {
		return f.dir == dir && slices.ContainsFunc(f.syntax.Decls, func(d ast.Decl) bool {
			switch d := d.(type) {
			case *ast.FuncDecl:
				return d.Recv == nil && d.Name.Name == name
			case *ast.GenDecl:
				return slices.ContainsFunc(d.Specs, func(s ast.Spec) bool { return names(s, name) })
			}
			return false
		})
	})
}

func names(s ast.Spec, name string) bool {
	switch s := s.(type) {
	case *ast.TypeSpec:
		return s.Name.Name == name
	case *ast.ValueSpec:
		return slices.ContainsFunc(s.Names, func(id *ast.Ident) bool { return id.Name == name })
	}
	return false
}

// TestEnvironmentTable compares the tables of docs/environment.md with what mx and mpi read.
func TestEnvironmentTable(t *testing.T) {
	for head, variables := range map[string][]mx.Variable{
		"| variable |": environmentOfMX(t), "| variable of ranks |": environmentOfMPI(t),
	} {
		rows := table(t, "docs/environment.md", head)
		if len(rows) != len(variables) {
			t.Errorf("docs/environment.md lists %d variables of %d below %s", len(rows), len(variables), head)
		}
		for _, v := range variables {
			if !slices.ContainsFunc(rows, func(r []string) bool { return r[0] == v.Name && r[1] == v.Default }) {
				t.Errorf("docs/environment.md lacks %s with its default %s", v.Name, v.Default)
			}
		}
	}
}

func environmentOfMX(t *testing.T) []mx.Variable {
	t.Helper()
	all, err := mx.Environment()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func environmentOfMPI(t *testing.T) []mx.Variable {
	t.Helper()
	all, err := mpi.Environment()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// table returns the rows of the table whose first line begins so.
func table(t *testing.T, document, head string) (rows [][]string) {
	t.Helper()
	_, rest, found := strings.Cut(read(t, document), "\n"+head)
	if !found {
		t.Fatalf("%s has no table that begins with %q", document, head)
	}
	lines := strings.Split(rest, "\n")
	for _, line := range lines[2:] { // below the head and the rule
		if !strings.HasPrefix(line, "|") {
			break
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		rows = append(rows, cells)
	}
	return rows
}

// TestLintVersion wants contributors to run the linter that .ci/run runs.
func TestLintVersion(t *testing.T) {
	tool := regexp.MustCompile(`honnef\.co/\S+@v[0-9.]+\d`)
	here, there := tool.FindString(read(t, "CONTRIBUTING.md")), tool.FindString(read(t, ".ci/run"))
	if here != there || here == "" {
		t.Errorf("CONTRIBUTING.md runs %q, .ci/run %q", here, there)
	}
}
