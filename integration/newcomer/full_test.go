package newcomer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// full is a file that takes no output, as a full disk does.
const full = "/dev/full"

// printing are command lines of tools that print something, in a folder with traces and figures of earlier runs.
var printing = map[string][]string{
	"mx_info":          {"", "-json", "-env", "-live", "-want ordered"},
	"mx_pingpong":      {"-transport mem -E 3", "-transport mem -E 3 -json", "-transport mem -E 3 -csv", "-s -e 99"},
	"mx_stream":        {"-transport mem -N 10", "-transport mem -N 10 -json", "-s -e 99"},
	"mx_msg_loop":      {"-transport self -N 1", "-transport self -N 1 -json"},
	"mx_hostname":      {"", "-v", "-json", "-d 127.0.0.1"},
	"mx_run":           {"-n 2 echo", "-l -n 2 echo", "-l -n 2 printf text"},
	"mx_counters":      {"", "-json", "-w 10ms -n 2"},
	"mx_endpoint_info": {"", "-v", "-json"},
	"mx_trace":         {"traces", "-json traces", "-o - traces", "-o " + full + " traces"},
	"mx_top":           {"-once -w 100ms", "-json -w 100ms", "-http 127.0.0.1:0"},
	"exs_blast":        {"-t 10ms", "-t 10ms -json", "-s -p 0"},
	"compare":          {"-from figures.json", "-from figures.json -json", "-from figures.json -markdown"},
	"scale":            {"-from figures.json", "-from figures.json -json", "-from figures.json -markdown"},
	"rdmavm":           {},
}

// figures are those of a row of compare, and one of scale.
const figures = `{"program":"mpi ping-pong 8 B","subject":"gomx","over":"shm","unit":"us","values":[0.1],"cpu_us_per_op":[0.2]}
{"program":"8 B from 256 endpoints of a process, TCP","subject":"gomx","over":"tcp","unit":"us","values":[0.75],"cpu_us_per_op":[1]}
`

// checkFullDisk has a tool print to a full disk: it says so, and fails.
func checkFullDisk(t *testing.T, bin, name string) {
	t.Helper()
	if _, err := os.Stat(full); err != nil {
		t.Skipf("the system has no full disk: %v", err)
	}
	dir := t.TempDir()
	save(t, dir, "figures.json", figures)
	lines, known := printing[name]
	if !known {
		t.Errorf("nothing is known that %s prints", name)
	}
	if name == "mx_trace" {
		must(t, dir, filepath.Join(bin, "mx_stream")+" -transport shm -N 10", "MX_TRACE=traces")
	}
	for _, line := range append([]string{"-h", "-version", "-completion bash"}, lines...) {
		out, err := shell(t, dir, "timeout 60 "+filepath.Join(bin, name)+" "+line+" 2>&1 >"+full)
		if err == nil || strings.Contains(err.Error(), "124") || !strings.Contains(strings.ToLower(out), "no space left") {
			t.Errorf("%s %s on a full disk: %v\n%s", name, line, err, out)
		}
	}
}
