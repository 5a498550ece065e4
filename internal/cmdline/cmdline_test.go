package cmdline

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"gomx/mx"
)

const help = `tool does something.

  -n N           how many
  -out FILE      where it's [written]: a file
  -quiet         say nothing, not even
                 that it has ended. Errors are
                 said
  -cpuprofile FILE
                 a profile
  -h             this text
`

// newFlags returns flags of which help describes some, a usage one, and nothing the one that is hidden.
func newFlags() *flag.FlagSet {
	flags := flag.NewFlagSet("tool", flag.ContinueOnError)
	flags.Int("n", 0, "")
	flags.String("out", "", "")
	flags.Bool("quiet", false, "")
	flags.String("cpuprofile", "", "")
	flags.String("more", "", "take more from this `folder`")
	flags.String("hostfile", "", Hidden)
	flags.Var(listed{}, "want", "wishes for `words`")
	return flags
}

// listed is the value of a flag that is a list of words.
type listed struct{}

func (listed) String() string   { return "" }
func (listed) Set(string) error { return nil }
func (listed) Words() []string  { return []string{"ordered", "orange", "size="} }

func ask(t *testing.T, args ...string) string {
	t.Helper()
	_, err := Parse(newFlags(), args)
	var text strings.Builder
	if asked, err := Answer(&text, err, help); !asked || err != nil {
		t.Fatalf("%q: asked %v, error %v", args, asked, err)
	}
	return text.String()
}

func TestHelpHasWhatTheTextLacks(t *testing.T) {
	text := ask(t, "-h")
	if !strings.HasPrefix(text, help) {
		t.Errorf("-h does not begin with the help text:\n%s", text)
	}
	rest := strings.TrimPrefix(text, help)
	for _, want := range []string{"-more folder", "-version", "-completion shell"} {
		if !strings.Contains(rest, want) {
			t.Errorf("-h does not show %s:\n%s", want, text)
		}
	}
	for _, no := range []string{"hostfile", "-n ", "-quiet"} {
		if strings.Contains(rest, no) {
			t.Errorf("-h shows %s where it should not:\n%s", no, rest)
		}
	}
	_, err := Parse(newFlags(), []string{"-h"})
	if !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h is %v", err)
	}
}

func TestOthersAreNoQuestions(t *testing.T) {
	for _, args := range [][]string{{}, {"-n", "3"}, {"-n", "x"}, {"-nonsense"}, {"more"}, {"-completion", "tcsh"}, {"-completion", ""}} {
		given, err := Parse(newFlags(), args)
		var text strings.Builder
		if asked, same := Answer(&text, err, help); asked || same != err || text.Len() > 0 {
			t.Errorf("%q is answered with %q, %v", args, text.String(), same)
		}
		if len(args) == 2 && args[1] == "3" && (err != nil || !given["n"]) {
			t.Errorf("%q: %v, %v", args, given, err)
		}
		if len(args) > 0 && args[len(args)-1] != "3" && err == nil {
			t.Errorf("%q is no error", args)
		}
	}
}

func TestVersion(t *testing.T) {
	text := ask(t, "-version")
	if !strings.HasPrefix(text, "tool of gomx ") || strings.Count(text, "\n") != 1 || !strings.Contains(text, "go1.") {
		t.Errorf("-version prints %q", text)
	}
	settings := []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef"}, {Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"},
	}
	own := func(v string) debug.Module { return debug.Module{Path: module, Version: v} }
	for _, c := range []struct {
		info              debug.BuildInfo
		version, revision string
	}{
		{debug.BuildInfo{}, mx.Version, ""},
		{debug.BuildInfo{Main: own("(devel)")}, mx.Version, ""},
		{debug.BuildInfo{Main: own("v0.0.0-20260102030405-0123456789ab")}, mx.Version, ""},
		{debug.BuildInfo{Main: own("v1.2.3"), Settings: settings[:2]}, "1.2.3", ", revision 0123456789ab of 2026-01-02"},
		{debug.BuildInfo{Main: own("v1.2.4-0.20260102030405-0123456789ab+dirty"), Settings: settings},
			"1.2.4-0.20260102030405-0123456789ab+dirty", ", revision 0123456789ab of 2026-01-02 with changes"},
		{debug.BuildInfo{Main: debug.Module{Path: "other", Version: "v7.0.0"}, Settings: settings, Deps: []*debug.Module{{Path: module, Version: "v1.2.3"}}}, "1.2.3", ""},
	} {
		if v, r := version(&c.info), revision(&c.info); v != c.version || r != c.revision {
			t.Errorf("%+v: %q and %q, want %q and %q", c.info, v, r, c.version, c.revision)
		}
	}
}

// TestBash has bash itself complete some words.
func TestBash(t *testing.T) {
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not installed")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "quite a file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	script := ask(t, "-completion", "bash") + `
[ "$(complete -p tool)" = "complete -o filenames -F _tool tool" ] || exit 1
COMP_WORDS=(tool "$@") COMP_CWORD=$#
_tool
printf '%s\n' "${COMPREPLY[@]}"
`
	for line, want := range map[string][]string{
		"-q":              {"-quiet"},
		"-":               {"-completion", "-cpuprofile", "-h", "-more", "-n", "-out", "-quiet", "-version", "-want"},
		"-n |":            nil,
		"-want o":         {"ordered", "orange"},
		"-want size=,ord": {"size=,ordered"},
		"-want pigeon,":   {"pigeon,ordered", "pigeon,orange", "pigeon,size="},
		"-out q":          {"quite a file"},
		"qui":             {"quite a file"},
	} {
		words := strings.Split(strings.ReplaceAll(line, "|", ""), " ")
		run := exec.Command(shell, append([]string{"--norc", "-c", script, "bash"}, words...)...)
		run.Dir = dir
		out, err := run.CombinedOutput()
		got := strings.Split(strings.TrimSpace(string(out)), "\n")
		if len(want) == 0 {
			want = []string{""}
		}
		slices.Sort(got)
		slices.Sort(want)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("tool %s: bash offers %q (%v), want %q", line, got, err, want)
		}
	}
}

// TestOtherShells compares what zsh and fish are told with what their manuals want, and has them read it where they are
// installed.
func TestOtherShells(t *testing.T) {
	for shell, want := range map[string][]string{
		"zsh": {
			"#compdef tool\n", "\t\t'-n[how many]:value:' \\\n", `'-out[where it'\''s \[written\]\: a file]:file:_files'`,
			"'-cpuprofile[a profile]:file:_files'", "'-more[take more from this folder]:file:_files'", "'-want[wishes for words]:words:_sequence compadd - ordered orange size=' \\\n", "'-quiet[say nothing, not even that it has ended]' \\\n", "compdef _tool tool\n",
		},
		"fish": {
			"complete -c tool -o n -d 'how many' -x\n", `complete -c tool -o out -d 'where it\'s [written]: a file' -r` + "\n",
			"complete -c tool -o quiet -d 'say nothing, not even that it has ended'\n", "complete -c tool -o completion -d 'print the completion for a shell: bash, zsh or fish' -x\n",
			"complete -c tool -o want -d 'wishes for words' -x -a '(__fish_append , ordered orange size=)'\n",
		},
	} {
		text := ask(t, "-completion", shell)
		for _, w := range want {
			if !strings.Contains(text, w) {
				t.Errorf("%s lacks %q:\n%s", shell, w, text)
			}
		}
		if strings.Contains(text, "hostfile") {
			t.Errorf("%s offers a flag that is hidden", shell)
		}
		if path, err := exec.LookPath(shell); err == nil {
			run := exec.Command(path, "-n")
			run.Stdin = strings.NewReader(text)
			if out, err := run.CombinedOutput(); err != nil {
				t.Errorf("%s -n: %v\n%s", shell, err, out)
			}
		}
	}
}

// TestWanting says what a value should have been.
func TestWanting(t *testing.T) {
	flags := func() *flag.FlagSet {
		f := newFlags()
		f.Duration("w", 0, "")
		f.Uint("most", 0, "")
		f.Float64("share", 0, "")
		f.Func("own", "", func(string) error { return errors.New("want something of mine") })
		return f
	}
	for _, c := range []struct{ arg, want string }{
		{"-n=x", `invalid value "x" for flag -n: want a whole number`},
		{"-n=99999999999999999999", "want a whole number that is not too large"},
		{"-most=-1", `invalid value "-1" for flag -most: want a whole number that is not negative`},
		{"-w=5", `invalid value "5" for flag -w: want a duration, such as`},
		{"-share=x", "want a number"},
		{"-quiet=x", `invalid boolean value "x" for -quiet: want true or false`},
		{"-own=x", "want something of mine"},
	} {
		_, err := Parse(flags(), []string{c.arg})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasSuffix(err.Error(), "; -h explains the flags") || strings.Contains(err.Error(), "parse error") {
			t.Errorf("%s: %v", c.arg, err)
		}
	}
}
