package gomx_test

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// arrows says which packages a package may import, besides those inside of it.
// They point down only. A new package gets a line here.
var arrows = map[string][]string{
	"match":          {},
	"transport/wire": {},
	"unexpected":     {"match"},
	"endpoint":       {"match", "unexpected", "transport/wire"},

	"endpoint/endpointtest":   {"endpoint", "match", "transport/wire"},
	"endpoint/driver":         {"internal/labels", "endpoint", "transport", "transport/wire"},
	"transport":               {"transport/wire"},
	"transport/transporttest": {"transport", "transport/wire"},
	"transport/mem":           {"transport", "transport/wire"},
	"transport/internal":      {},
	"transport/bell":          {"internal/labels", "transport", "transport/internal/segment"},
	"transport/shm":           {"internal/labels", "transport", "transport/wire", "transport/bell", "transport/internal/epoll", "transport/internal/segment"},
	"transport/tcp":           {"internal/labels", "transport", "transport/wire", "transport/bell", "transport/internal/epoll"},
	"transport/nic":           {},
	"transport/rdma":          {"transport", "transport/wire", "transport/bell", "transport/tcp", "transport/internal/epoll"},

	// The only one that names the media.
	"mx": {"internal/ended", "internal/labels", "internal/nearest", "endpoint", "endpoint/driver", "transport", "transport/wire", "transport/mem", "transport/shm", "transport/tcp", "transport/rdma", "transport/nic", "mx/internal/live", "mx/internal/tracefile", "mx/internal/addressfile"},

	"mx/internal/live":        {"internal/labels"},
	"mx/internal/tracefile":   {"endpoint"},
	"mx/internal/addressfile": {},
	"mx/live":                 {"mx", "mx/internal/live"},
	"mx/metrics":              {"mx"},
	"mx/trace":                {"endpoint", "mx/internal/tracefile"},

	"mpi":                    {"internal/ended", "internal/labels", "mx", "mpi/launch", "mpi/internal/coll", "mpi/internal/elem", "mpi/internal/hang", "mpi/internal/queue", "mpi/internal/service", "mpi/internal/variables"},
	"mpi/live":               {"mpi/internal/hang", "mx"},
	"mpi/internal/coll":      {"mpi/internal/elem"},
	"mpi/internal/elem":      {},
	"mpi/internal/hang":      {},
	"mpi/internal/queue":     {},
	"mpi/internal/service":   {"internal/labels", "mx"},
	"mpi/internal/variables": {"internal/nearest"},

	"exs":                  {"internal/labels", "mx"},
	"mpi/launch":           {"internal/labels", "mpi/internal/variables"},
	"bench/stats":          {},
	"bench/machine":        {},
	"bench/plot":           {},
	"bench/pingpong":       {"internal/partner", "mx", "bench/stats"},
	"bench/usage":          {},
	"bench/internal":       {"bench/usage"},
	"bench/internal/turns": {"internal/cmdline", "bench/internal/child", "bench/internal/figure", "bench/internal/mpis", "bench/machine", "bench/stats"},
	"bench/compare":        {"bench/internal/turns", "bench/plot", "bench/stats"},
	"bench/scale":          {"bench/internal/turns", "bench/plot", "bench/stats"},
	"bench/ordinary":       {"bench/internal/figure", "exs", "mpi", "mx"},
	"cmd/internal":         {"internal/cmdline", "mx", "mx/live", "bench/pingpong", "internal/testlength", "internal/toolpage"},
	"internal/cmdline":     {"mx"},
	"internal/freeport":    {},
	"internal/ended":       {},
	"internal/labels":      {},
	"internal/nearest":     {},
	"internal/partner":     {},
	"internal/testlength":  {},
	"internal/toolpage":    {},
	"cmd/exs_blast":        {"internal/cmdline", "internal/partner", "exs", "mx", "bench/machine", "bench/pingpong", "bench/plot", "bench/stats", "bench/usage"},
	"cmd/mx_info":          {"internal/cmdline", "internal/partner", "cmd/internal/processes", "mpi", "mx"},
	"cmd/mx_hostname":      {"internal/cmdline", "cmd/internal/processes", "mx"},
	"cmd/mx_msg_loop":      {"internal/cmdline", "mx", "bench/pingpong"},
	"cmd/mx_stream":        {"internal/cmdline", "cmd/internal/sides", "mx", "bench/pingpong"},
	"cmd/mx_counters":      {"internal/cmdline", "cmd/internal/processes", "mx"},
	"cmd/mx_endpoint_info": {"internal/cmdline", "cmd/internal/processes", "mx"},
	"cmd/mx_trace":         {"internal/cmdline", "cmd/internal/processes", "mx/trace"},
	"cmd/mx_top":           {"internal/cmdline", "cmd/internal/processes", "mpi/live", "mx", "mx/live"},
	"cmd/mx_run":           {"internal/cmdline", "mpi/launch/spawn", "mx"},
	"cmd/mx_pingpong":      {"internal/cmdline", "cmd/internal/sides", "mx", "bench/machine", "bench/pingpong", "bench/plot", "bench/stats"},
	"docs/tutorial":        {"exs", "mpi", "mx"},
	"examples":             {"exs", "mpi", "mpi/launch/spawn", "mx"},
	"integration":          {"internal/cmdline"},

	"integration/newcomer":         {"exs", "mpi", "mx"},
	"integration/launch":           {"mpi/launch"},
	"integration/internal/traffic": {"mx", "integration/internal/proc"},
	"integration/sim":              {"endpoint", "transport", "transport/mem", "transport/wire"},

	// The engines alone, of endpoints that no machine could have.
	"bench/ordinary/engine_crowd": {"bench/internal/figure", "endpoint", "transport/wire"},
}

func TestArrowsPointDown(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range theHouse(t).program() {
		pkg := packageOf(arrows, f.dir)
		if pkg == "" {
			t.Errorf("%s: the package %s has no line in the table of arrows", f.path, f.dir)
			continue
		}
		seen[pkg] = true
		for _, imported := range f.imports {
			to, ours := strings.CutPrefix(imported, module+"/")
			inside := within(pkg, to) && packageOf(arrows, to) == pkg
			if ours && !inside && !slices.Contains(arrows[pkg], to) {
				t.Errorf("%s imports %s: no arrow leads from %s to there", f.path, to, pkg)
			}
		}
	}
	for pkg := range arrows {
		if !seen[pkg] {
			t.Errorf("there is no package %s any more: take its line out of the table of arrows", pkg)
		}
	}
}

// pure are the packages without input, output, time and concurrency, and pureImports
// all that they may use of the standard library.
var (
	pure        = []string{"match", "unexpected", "endpoint", "transport/wire", "exs/internal/stream", "exs/internal/pool", "mpi/internal/coll", "mpi/internal/hang", "mpi/internal/queue"}
	pureImports = []string{"cmp", "encoding/binary", "errors", "fmt", "math", "math/bits", "slices", "strings"}
)

func TestPurePackages(t *testing.T) {
	h := theHouse(t)
	for _, f := range h.program() {
		if !slices.Contains(pure, f.dir) {
			continue
		}
		for _, imported := range f.imports {
			if !strings.HasPrefix(imported, module+"/") && !slices.Contains(pureImports, imported) {
				t.Errorf("%s imports %q, which a pure package may not", f.path, imported)
			}
		}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n.(type) {
			case *ast.GoStmt, *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
				t.Errorf("%v: a pure package has no goroutines and no channels", h.set.Position(n.Pos()))
			}
			return true
		})
	}
}

// low are the imports that reach below Go, and lowPackages the only places that may,
// with the reason. Tests may as well.
var (
	low         = []string{"unsafe", "syscall", "C", "golang.org/x/sys"}
	lowPackages = map[string]string{
		"endpoint/driver/internal/goroutine": "tells goroutines apart, in assembly",
		"transport/internal":                 "memory between processes, the descriptors that carry it, and events of descriptors",
		"transport/bell":                     "sleeping on futexes and descriptors, and waking",
		"transport/shm/internal":             "memory between processes: rings, arenas, reading of peers' memory",
		"transport/rdma/internal":            "libibverbs, and memory registered with devices",
		"integration/rdmavm/internal":        "a virtual machine that ends with the command",
		"transport/tcp/internal":             "sockets read and written without the Go poller",
		"transport/shortage.go":              "tells an empty table of files apart from other errors",
		"transport/shm/dial.go":              "tells the errors of a socket apart by their numbers",
		"transport/shm/transport.go":         "tells the errors of a socket apart by their numbers",
		"transport/shm/hello.go":             "closes descriptors of a refused peer, and compares users",
		"bench/ordinary/bare_pingpong":       "threads bound to cores, and a connection read and written without the Go poller",
		"bench/internal/child":               "process groups, so that nothing of a measured program stays behind",
		"bench/pingpong/internal/affinity":   "binds threads to cores",
		"bench/usage":                        "processor time of this process",
		"exs/internal/errno":                 "the numbers of sockets: errors and domains",
		"exs/internal/hungup":                "whether the other side of a TCP connection has ended it",
		"exs/internal/linger":                "has the system forget a connection, whatever stage it is closed at",
		"exs/internal/span":                  "where a buffer lies in registered memory",
		"integration/internal/proc":          "signals and resources of the processes that tests start",
		"mx/internal/tracefile":              "events in memory that is mapped from a file, and the counter of the processor",
		"internal/cmdline":                   "the signals that ask a program to end",
		"cmd/internal/tooltest":              "terminals that tests make",
		"cmd/mx_top/internal/terminal":       "throws away output that a terminal does not take",
		"mx/internal/addressfile":            "files of this user that are mapped read-only",
		"mx/internal/live":                   "who is at the other end of a socket, and a signal",
		"mpi/internal/elem":                  "elements without pointers as the bytes that they are",
		"mpi/launch/internal/process":        "pairs of sockets for children, their groups, signals and cores",
		"integration/internal/netns":         "which processes are alive, to remove what dead ones have left",
	}
)

func TestLowPackages(t *testing.T) {
	h := theHouse(t)
	used := map[string]bool{}
	for _, f := range h.program() {
		for _, imported := range f.imports {
			if !slices.ContainsFunc(low, func(l string) bool { return within(l, imported) }) {
				continue
			}
			pkg := packageOf(lowPackages, f.path)
			used[pkg] = true
			if pkg == "" {
				t.Errorf("%s imports %q outside the packages for it", f.path, imported)
			}
		}
	}
	for _, name := range h.paths {
		if path.Ext(name) != ".s" {
			continue
		}
		pkg := packageOf(lowPackages, name)
		used[pkg] = true
		if pkg == "" {
			t.Errorf("%s is assembly outside the packages for it", name)
		}
	}
	for pkg := range lowPackages {
		if !used[pkg] {
			t.Errorf("%s needs nothing from below Go any more: take it out of the list", pkg)
		}
	}
}

// thirdParty says where modules of others may be used, low ones aside.
var thirdParty = map[string]string{
	"github.com/Mellanox/rdmamap": "transport/nic",
	"gonum.org/v1/gonum":          "bench/stats",
	"gonum.org/v1/plot":           "bench/plot",
	"golang.org/x/image":          "bench/plot",              // the letters of its pictures
	"golang.org/x/term":           "cmd/mx_top",              // single keys, and how large the terminal is
	"google.golang.org/grpc":      "bench/ordinary/exs_grpc", // a module of its own, as is
	"google.golang.org/protobuf":  "bench/ordinary/exs_grpc",

	"github.com/HdrHistogram/hdrhistogram-go": "bench/stats",
}

func TestThirdParty(t *testing.T) {
	for _, f := range theHouse(t).program() {
		for _, imported := range f.imports {
			host, _, _ := strings.Cut(imported, "/")
			if !strings.Contains(host, ".") || within("golang.org/x/sys", imported) {
				continue
			}
			m := packageOf(thirdParty, imported)
			if m == "" || !within(thirdParty[m], f.dir) {
				t.Errorf("%s imports %q, which has no place there", f.path, imported)
			}
		}
	}
}
