package cmdline

import (
	"flag"
	"fmt"
	"regexp"
	"strings"
)

// option is a flag as shells complete it.
type option struct {
	name, text string
	value      bool     // another word follows
	file       bool     // the name of a file, or of a folder
	words      []string // of which the value is a list, with commas between them; nil: anything
}

// Words is a flag's value that is a list with commas, whose words the shells offer. A word that ends in an equals sign
// wants more behind it.
type Words interface {
	// Words returns them. It may be called before the flag is set.
	Words() []string
}

// helpLine is the part of a help text that describes a flag: name, value, description. The description goes on in lines that are indented further.
var helpLine = regexp.MustCompile(`(?m)^ {2,4}-([A-Za-z][A-Za-z0-9]*)(?: (\S+))?(?:\n {4,}| {2,}|\t)(\S.*(?:\n {5,}[^\s-].*)*)$`)

// values of flags that are names of files.
var fileNames = []string{"file", "folder", "path"}

// describe returns the flags that a user may give, in the order of their names. The first sentence of a description
// is enough for a list.
func describe(flags *flag.FlagSet, help string) (options []option) {
	described := lines(help)
	flags.VisitAll(func(f *flag.Flag) {
		if f.Usage == Hidden {
			return
		}
		value, text := flag.UnquoteUsage(f)
		if m := described[f.Name]; m != nil {
			value, text = m[2], sentence(m[3])
		}
		o := option{name: f.Name, text: text, value: !isBool(f)}
		if w, is := f.Value.(Words); is {
			o.words = w.Words()
		}
		for _, name := range fileNames {
			o.file = o.file || strings.EqualFold(value, name)
		}
		options = append(options, o)
	})
	return append(options, option{name: "h", text: "explain the flags"})
}

// sentence returns the first sentence of a text, in one line.
func sentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if end := sentenceEnd.FindStringIndex(text); end != nil {
		return text[:end[1]-len(". ")]
	}
	return text
}

// sentenceEnd is the last character of a sentence, and what follows it. Three dots end none.
var sentenceEnd = regexp.MustCompile(`[^.]\. `)

// lines returns the lines of a help text that begin the description of a flag, by the flag's name.
func lines(help string) map[string][]string {
	found := map[string][]string{}
	for _, m := range helpLine.FindAllStringSubmatch(help, -1) {
		found[m[1]] = m
	}
	return found
}

func isBool(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// shells are those that there is a completion for.
var shells = map[string]func(program string, options []option) string{"bash": bash, "zsh": zsh, "fish": fish}

// bash completes words that begin with a hyphen as flags, words behind a flag without names of files as nothing, and
// all others as files.
func bash(program string, options []option) string {
	var names, valued []string
	lists := ""
	for _, o := range options {
		names = append(names, "-"+o.name)
		switch {
		case o.words != nil:
			lists += fmt.Sprintf(bashList, "-"+o.name, strings.Join(o.words, " "))
		case o.value && !o.file:
			valued = append(valued, "-"+o.name)
		}
	}
	return fmt.Sprintf(`# bash completion of %[1]s: source <(%[1]s -completion bash)
_%[1]s() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}
	COMPREPLY=()
	case $before in
%[4]s	%[3]s) return ;;
	esac
	case $word in
	-*) mapfile -t COMPREPLY < <(compgen -W '%[2]s' -- "$word") ;;
	*) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
	esac
}
complete -o filenames -F _%[1]s %[1]s
`, program, strings.Join(names, " "), strings.Join(valued, "|"), lists)
}

// bashList completes the last word of a list behind a flag.
const bashList = `	%[1]s)
		local done=
		case $word in
		*,*) done=${word%%,*}, ;;
		esac
		mapfile -t COMPREPLY < <(compgen -P "$done" -W '%[2]s' -- "${word##*,}")
		compopt -o nospace 2>/dev/null
		return ;;
`

func zsh(program string, options []option) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#compdef %[1]s\n# zsh completion of %[1]s: source <(%[1]s -completion zsh)\n_%[1]s() {\n\t_arguments \\\n", program)
	for _, o := range options {
		after := ""
		switch {
		case o.words != nil:
			after = ":words:_sequence compadd - " + strings.Join(o.words, " ")
		case o.file:
			after = ":file:_files"
		case o.value:
			after = ":value:"
		}
		fmt.Fprintf(&b, "\t\t%s \\\n", quote("-"+o.name+"["+brackets.Replace(o.text)+"]"+after))
	}
	fmt.Fprintf(&b, "\t\t'*:file:_files'\n}\ncompdef _%[1]s %[1]s\n", program)
	return b.String()
}

func fish(program string, options []option) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# fish completion of %[1]s: %[1]s -completion fish | source\n", program)
	for _, o := range options {
		fmt.Fprintf(&b, "complete -c %s -o %s -d %s", program, o.name, quoteFish(o.text))
		switch {
		case o.words != nil:
			fmt.Fprintf(&b, " -x -a '(__fish_append , %s)'", strings.Join(o.words, " "))
		case o.file:
			b.WriteString(" -r")
		case o.value:
			b.WriteString(" -x")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// brackets keeps _arguments of zsh from taking marks of a description for its own.
var brackets = strings.NewReplacer("[", `\[`, "]", `\]`, ":", `\:`)

// quote makes one word of a text, for bash and zsh.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// quoteFish makes one word of a text for fish, which knows two escapes between quotes.
func quoteFish(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}
