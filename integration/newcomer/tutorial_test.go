package newcomer

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pages of the tutorial, with the folders of their programs.
var pages = map[string]string{
	"1-ranks": "ranks", "2-queue": "queue", "3-halo": "halo", "4-counters": "counters", "5-http": "http", "6-endpoint": "endpoint",
}

func page(name string) string { return "docs/tutorial/" + name + ".md" }

// TestTutorialIsComplete wants a page for each program, and the page to show it as it is.
func TestTutorialIsComplete(t *testing.T) {
	found, err := filepath.Glob(filepath.Join(checkout, "docs", "tutorial", "*", "main.go"))
	if err != nil || len(found) != len(pages) {
		t.Errorf("there are %d programs for %d pages: %v", len(found), len(pages), err)
	}
	index := text(t, "docs/tutorial/README.md")
	for name, folder := range pages {
		shown := programs(text(t, page(name)))
		if len(shown) != 1 || shown[0] != text(t, "docs/tutorial/"+folder+"/main.go") {
			t.Errorf("%s does not show docs/tutorial/%s/main.go as it is", page(name), folder)
		}
		if !strings.Contains(index, "("+name+".md)") {
			t.Errorf("docs/tutorial/README.md does not list %s", name)
		}
	}
	if !strings.Contains(index, "    "+replaceCommand(t)+"\n") {
		t.Error("docs/tutorial/README.md and README.md make a module in different ways")
	}
}

var consolePattern = regexp.MustCompile("(?s)```console\n(.*?)```\n")

// step is a command of a page, and what it prints there.
type step struct{ command, output string }

func steps(text string) (all []step) {
	for _, m := range consolePattern.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(m[1]) {
			if command, is := strings.CutPrefix(line, "$ "); is {
				all = append(all, step{command: strings.TrimSuffix(command, "\n")})
			} else {
				all[len(all)-1].output += line
			}
		}
	}
	return all
}

// TestTutorial pastes each program into a module of its own, and types what its page says.
func TestTutorial(t *testing.T) {
	t.Parallel()
	long(t)
	for name := range pages {
		t.Run(name, func(t *testing.T) {
			content := text(t, page(name))
			all := steps(content)
			if len(all) == 0 {
				t.Fatal("the page shows no commands")
			}
			dir := newModule(t, programs(content)[0])
			must(t, dir, "go vet .")
			for _, s := range all {
				if got := must(t, dir, s.command); got != s.output {
					t.Errorf("%s prints\n%s\nand the page says\n%s", s.command, got, s.output)
				}
			}
		})
	}
}

// TestTutorialTwoProcesses runs service and client of the page about HTTP as two processes.
func TestTutorialTwoProcesses(t *testing.T) {
	long(t)
	content := text(t, page("5-http"))
	for _, line := range []string{"\n    go run . -serve localhost:7000\n", "\n    go run . -get localhost:7000\n"} {
		if !strings.Contains(content, line) {
			t.Errorf("the page does not show %q", line)
		}
	}
	dir := newModule(t, programs(content)[0])
	must(t, dir, "go build -o service .")
	for _, over := range []string{"exs", "tcp"} {
		address, end := startService(t, dir, over)
		if got := must(t, dir, "./service -net "+over+" -get "+address); got != "hello, gopher\n10485760 bytes\n" {
			t.Errorf("over %s the client prints %q", over, got)
		}
		end()
	}
}

func startService(t *testing.T, dir, over string) (address string, end func()) {
	t.Helper()
	service := exec.Command(filepath.Join(dir, "service"), "-net", over, "-serve", "localhost:0")
	service.Env, service.Stderr = environment(), os.Stderr
	out, err := service.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { service.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	address, found := strings.CutPrefix(strings.TrimSpace(line), "serving at ")
	if err != nil || !found {
		t.Fatalf("the service prints %q: %v", line, err)
	}
	return address, func() {
		if err := service.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := service.Wait(); err != nil {
			t.Errorf("over %s the service ends with %v", over, err)
		}
	}
}
