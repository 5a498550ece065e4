package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gomx/bench/internal/turns"
	"gomx/internal/cmdline"
)

func TestBadOptions(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"-only speed", "no row"},
		{"-only (", "missing"},
		{"-over udp", "-over udp: want shm, tcp, rdma"},
		{"-over rdma -device nosuch", "this machine has no RDMA device nosuch"},
		{"-rounds 0", "-rounds"},
		{"-programs a -against b", "exclude each other"},
		{"-json -markdown", "exclude each other"},
		{"-plot x.pdf", ".svg or .png"},
		{"latency", `unexpected argument "latency"`},
	} {
		if _, err := compare.Wanted(strings.Fields(c.line)...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q in it", c.line, err, c.want)
		}
	}
	_, err := compare.Wanted("-h")
	var help strings.Builder
	if asked, err := cmdline.Answer(&help, err, compare.Help); !asked || err != nil || !strings.Contains(help.String(), "go run ./bench/compare") {
		t.Errorf("-h: %v\n%s", err, help.String())
	}
}

// earlier are figures of earlier runs, in two files.
var earlier = [2]string{
	`{"program":"mpi ping-pong 64 B","subject":"gomx","over":"shm","unit":"us","values":[0.4,0.2,0.3],"cpu_us_per_op":[0.8,0.4,0.6]}
{"program":"mpi ping-pong 64 B","subject":"Open MPI","over":"shm","unit":"us","values":[0.4,0.4,0.4],"cpu_us_per_op":[1,1,1],"library":"Open MPI 4"}
{"program":"mpi ping-pong 8 B","subject":"gomx","over":"shm","unit":"us","values":[0.1],"cpu_us_per_op":[0.2]}
{"program":"mpi ping-pong 8 B","subject":"Open MPI","over":"shm","unit":"us","values":[0.1],"cpu_us_per_op":[0.2],"library":"Open MPI 4"}
{"program":"mpi ping-pong 8 B","subject":"MPICH","over":"shm","unit":"us","values":null,"cpu_us_per_op":null,"failed":true}
{"program":"no such row","subject":"gomx","over":"shm","unit":"us","values":[1],"cpu_us_per_op":[1]}
`,
	`{"program":"mpi ping-pong 64 B","subject":"gomx","over":"shm","unit":"us","values":[0.3,0.3],"cpu_us_per_op":[0.6,0.6]}
{"program":"mpi ping-pong 64 B","subject":"gomx","over":"tcp","unit":"us","values":[9],"cpu_us_per_op":[9]}
{"program":"small GET, one connection","subject":"gomx","over":"shm","unit":"us","values":[30],"cpu_us_per_op":[60]}
{"program":"small GET, one connection","subject":"TCP","over":"shm","unit":"us","values":[60],"cpu_us_per_op":[90]}
{"program":"64 idle peers, memory","subject":"gomx","over":"shm","unit":"MiB","values":[3],"cpu_us_per_op":[0]}
`,
}

func earlierFiles(t *testing.T) string {
	var names []string
	for i, text := range earlier {
		name := filepath.Join(t.TempDir(), string(rune('a'+i))+".json")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return strings.Join(names, ",")
}

func TestMarkdownOfEarlierRuns(t *testing.T) {
	var out, said strings.Builder
	picture := filepath.Join(t.TempDir(), "out.svg")
	if err := compare.Run(t.Context(), []string{"-from", earlierFiles(t), "-markdown", "-plot", picture}, &out, &said); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Medians of 1 to 5 rounds in turn, over shared memory. ", "; Open MPI 4; ", "\nRanks: us, ",
		"\n| program | gomx | Open MPI | MPICH | gomx / the best | bar |\n|---|---:|---:|---:|---:|---:|\n" +
			"| mpi ping-pong 8 B | 0.1 / 0.2 | 0.1 / 0.2 | failed | 1.00 | 0.90: missed |\n" +
			"| mpi ping-pong 64 B | 0.3 / 0.6 | 0.4 / 1 |  | 0.75 | 1.00: met |\n",
		"\n| program | gomx | TCP | gomx / the best | bar |\n|---|---:|---:|---:|---:|\n| small GET, one connection | 30 / 60 | 60 / 90 | 0.50 | 1.00: met |\n",
		"\n| program | gomx |\n|---|---:|\n| 64 idle peers, memory, MiB | 3 |\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	text, err := os.ReadFile(picture)
	for _, want := range []string{">gomx<", ">Open MPI<", ">64 B<", "default options"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the picture does not say %s: %v", want, err)
		}
	}
}

func TestTextOfEarlierRuns(t *testing.T) {
	var out, said strings.Builder
	if err := compare.Run(t.Context(), []string{"-from", earlierFiles(t), "-only", "GET"}, &out, &said); err != nil {
		t.Fatal(err)
	}
	const want = `program                    subject  figure  spread    processor us/op  / gomx  processor / gomx  bar
small GET, one connection  gomx     30 us   30 to 30  60               1.00    1.00              1.00: met
                           TCP      60 us   60 to 60  90               2.00    1.50              
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	if err := compare.Run(t.Context(), []string{"-from", earlierFiles(t), "-over", "tcp", "-only", "GET"}, &out, &said); err == nil {
		t.Error("no figure over TCP: no error")
	}
}

// TestBarsAreMeasured wants each bar to name what stands beside its row.
func TestBarsAreMeasured(t *testing.T) {
	count := 0
	for _, r := range rows(1) {
		for _, over := range turns.Media {
			b := r.BarOver(over)
			if b.Limit == 0 {
				continue
			}
			count++
			for _, name := range b.Of {
				if !(name == turns.TCPName && r.Sockets || r.MPIs && (name == "Open MPI" || name == "MPICH")) {
					t.Errorf("%s over %s: %s does not stand beside it", r.Name, over, name)
				}
			}
		}
	}
	if count < 100 {
		t.Errorf("%d bars", count)
	}
}
