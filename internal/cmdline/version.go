package cmdline

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"gomx/mx"
)

// module is the path that the build information has for the library.
const module = "gomx"

// Version returns the line that -version prints: the program, the version of the library that it was built from, and
// Build.
func Version(program string) string {
	return program + " of gomx " + version(readBuild()) + ", " + Build()
}

// Build says what compiled the program, for which system, and from which revision if the build information has one.
func Build() string { return compiler() + revision(readBuild()) }

func readBuild() *debug.BuildInfo {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info
	}
	return &debug.BuildInfo{}
}

// version is that of the tag if the program was built from one, else the version that the sources work towards.
func version(info *debug.BuildInfo) string {
	v := ""
	if info.Main.Path == module {
		v = info.Main.Version
	}
	for _, m := range info.Deps {
		if m.Path == module && m.Replace == nil {
			v = m.Version
		}
	}
	if !strings.HasPrefix(v, "v") || strings.HasPrefix(v, "v0.0.0-") {
		return mx.Version // no tag: (devel), or the name that Go makes for a revision before all tags
	}
	return strings.TrimPrefix(v, "v")
}

func compiler() string {
	return fmt.Sprintf("%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// revision is that of the library's own sources: a program in another module is built from another repository.
func revision(info *debug.BuildInfo) string {
	if info.Main.Path != module {
		return ""
	}
	is := map[string]string{}
	for _, s := range info.Settings {
		is[s.Key] = s.Value
	}
	r := is["vcs.revision"]
	if r == "" {
		return ""
	}
	text := ", revision " + r[:min(12, len(r))]
	if day, _, found := strings.Cut(is["vcs.time"], "T"); found {
		text += " of " + day
	}
	if is["vcs.modified"] == "true" {
		text += " with changes"
	}
	return text
}
