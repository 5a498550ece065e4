package main

import (
	"fmt"
	"io"
	"path"
	"strings"
	"text/tabwriter"
	"time"

	"gomx/integration/rdmavm/internal/plan"
)

// suitePackages are those whose tests are part of the suite.
var suitePackages = []string{
	"./transport/rdma/...", "./integration/rdma", "./integration/windows", "./mx", "./exs", "./integration/exs",
	"./cmd/mx_msg_loop", "./cmd/mx_stream",
}

// suiteRuns says which tests of a package are, if not all: of mx those that use RDMA, and
// that the same history makes the same completions over all media; of the others those that run
// over RDMA.
var suiteRuns = map[string]string{
	"gomx/cmd/mx_msg_loop":     "^TestLoop$",
	"gomx/cmd/mx_stream":       "^TestTable$",
	"gomx/mx":                  "SameHistory|RDMA",
	"gomx/exs":                 "/^rdma$",
	"gomx/integration/exs":     "^Test(Registered|Killed)$/^rdma$",
	"gomx/integration/windows": "/^rdma$",
}

// toolLimit bounds a check of the suite that is not one of our tests.
const toolLimit = 30 * time.Second

// toolChecks show that the devices work, and with them kernel, libraries and
// provider.
func toolChecks(hosts int) []plan.Check {
	// With one host client and server share a device.
	server := map[int]string{1: "10.79.0.1", 2: "10.79.0.2"}[hosts]
	all := []plan.Check{
		{Name: "ibv_devices", Client: words("ibv_devices"), Want: `(?m)^\s+rxe0\s`},
		{Name: "ibv_devinfo", Client: words("ibv_devinfo -d rxe0"), Want: `state:\s+PORT_ACTIVE`},
		{Name: "rdma link", Client: words("rdma link show rxe0/1"), Want: `state ACTIVE .*netdev d0`},
		pingpong("ibv_rc_pingpong", "rxe0", "rxe0", server),
		perftest("ib_send_lat", "rxe0", "rxe0", server),
		perftest("ib_write_lat", "rxe0", "rxe0", server),
		perftest("ib_read_lat", "rxe0", "rxe0", server),
	}
	if hosts == 1 {
		apart := pingpong("ibv_rc_pingpong, namespaces", "rxe1", "rxe2", "10.80.0.2")
		apart.ClientIn, apart.ServerIn = "n1", "n2"
		all = append(all, pingpong("ibv_rc_pingpong, cable", "rxe1", "rxe2", "127.0.0.1"), apart)
	}
	return all
}

// pingpong lets rdma-core's example check the bytes that it sends. GID 1 is made of the IPv4
// address.
func pingpong(name, client, server, to string) plan.Check {
	const port = 18515
	line := fmt.Sprintf("ibv_rc_pingpong -g 1 -c -n 200 -p %d -d ", port)
	return plan.Check{
		Name: name, Port: port, Server: words(line + server), Client: words(line + client + " " + to),
		Want: `200 iters in`, Note: `= (\S+ usec/iter)`,
	}
}

// perftest runs one of the programs of that package.
func perftest(name, client, server, to string) plan.Check {
	const port, size, iterations = 18600, 8, 500
	line := fmt.Sprintf("%s -F -x 1 -s %d -n %d -p %d -d ", name, size, iterations, port)
	return plan.Check{
		Name: name, Port: port, Server: words(line + server), Client: words(line + client + " " + to),
		// The columns are bytes, iterations, least, most and typical microseconds. They are
		// "inf" where the program could not find out how fast its clock runs, as happens
		// on a busy machine; the exchange took place all the same.
		Want: fmt.Sprintf(`(?m)^ %d +%d +([0-9.]+|inf)\s`, size, iterations),
		Note: `(?m)^ 8 +\d+ +\S+ +\S+ +(\S+)`,
	}
}

// testCheck runs the tests of a package.
func testCheck(t testBinary, o options) plan.Check {
	limit := o.checkLimit()
	line := []string{t.inside() + "/" + path.Base(t.name) + ".test", "-test.timeout=" + (limit * 9 / 10).String(), "-test.count=1"}
	part, isPart := suiteRuns[t.name]
	isPart = isPart && len(o.packages) == 0
	if isPart {
		line = append(line, "-test.run="+part)
	}
	if o.run != "" {
		line = append(line, "-test.run="+o.run)
	}
	if o.verbose {
		line = append(line, "-test.v")
	}
	if o.short || isPart {
		line = append(line, "-test.short")
	}
	return plan.Check{
		Name: t.name, Dir: t.inside(), Client: append(line, o.args...), Stream: true, Limit: limit,
		Want: `(?m)^PASS$`, // a binary that ends by itself in the middle has not passed
	}
}

// compareCommand measures with what the machine has, and as much as an emulated one does in some minutes.
var compareCommand = append(words("./bench/compare -over rdma -device rxe0 -gid 1 -programs /bin -scale 100 -timeout 1m -rounds 5 -only"),
	"^mpi ping-pong (8 B|512 B|4 KiB|32 KiB)$|^mpi 64 x (32|256) KiB")

// programCheck runs one program, and wants nothing but exit status 0.
func programCheck(line []string, o options) plan.Check {
	return plan.Check{Name: path.Base(line[0]), Client: line, Stream: true, Limit: o.checkLimit()}
}

// withLimits gives a limit to the checks that have none.
func withLimits(all []plan.Check) []plan.Check {
	for i := range all {
		if all[i].Limit == 0 {
			all[i].Limit = toolLimit
		}
	}
	return all
}

func words(line string) []string { return strings.Fields(line) }

// printTable shows what became of the checks, and of those that never began. It
// reports whether all passed.
func printTable(w io.Writer, checks []plan.Check, results []plan.Result) (passed bool) {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(out, "check\texit\tseconds\tresult\tnote")
	passed = true
	for i, c := range checks {
		if i >= len(results) {
			fmt.Fprintf(out, "%s\t-\t-\tFAILED\tdid not come to its end\n", c.Name)
			passed = false
			continue
		}
		r := results[i]
		verdict, note := "passed", r.Note
		if r.Why != "" {
			verdict, note, passed = "FAILED", strings.ReplaceAll(r.Why, "\n", "; "), false
		}
		fmt.Fprintf(out, "%s\t%d\t%.1f\t%s\t%s\n", r.Name, r.Exit, r.Took.Seconds(), verdict, note)
	}
	_ = out.Flush()
	return passed
}
