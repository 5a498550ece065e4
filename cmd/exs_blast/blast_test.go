package main_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gomx/internal/testlength"
)

func TestThroughput(t *testing.T) {
	testlength.Long(t)
	needMedium(t)
	lines := jsonLines(t, "-S", "7", "-E", "200001", "-M", "20", "-N", "50", "-inflight", "1,5", "-mode", "normal,small,tcp")
	count := map[string]int{}
	for _, l := range lines {
		count[l.Type+" "+l.Mode]++
		if l.Count != 50 || l.Throughput <= 0 || l.Rate <= 0 || l.Latency != nil || l.Transport == "" {
			t.Errorf("%+v", l)
		}
	}
	// 7, 140, 2800 and 56000 bytes, with 1 and 5 in flight; TCP has no such choice.
	for series, want := range map[string]int{"packet normal": 8, "packet small": 8, "stream normal": 8, "stream tcp": 4} {
		if count[series] != want {
			t.Errorf("%s: %d points, want %d", series, count[series], want)
		}
	}
	if len(count) != 4 {
		t.Errorf("%v", count)
	}
}

// TestPapers measures what the papers add.
func TestPapers(t *testing.T) {
	testlength.Long(t)
	needMedium(t)
	for _, kind := range [][]string{{"-inflight", "1,5"}, {"-latency"}} {
		lines := jsonLines(t, append(kind, "-S", "7", "-E", "200001", "-M", "20", "-N", "50", "-mode", "inplace,persistent")...)
		count := map[string]int{}
		for _, l := range lines {
			count[l.Mode]++
			if l.Type != "packet" || l.Count != 50 || l.Transport == "" || (l.Throughput <= 0) != (l.Latency != nil) {
				t.Errorf("%+v", l)
			}
		}
		if count["inplace"] != count["persistent"] || count["inplace"] != 4*len(kind) { // 7, 140, 2800 and 56000 bytes
			t.Errorf("%v: %v", kind, count)
		}
	}
}

func TestLargeMessages(t *testing.T) {
	needMedium(t)
	lines := jsonLines(t, "-S", "5000001", "-E", "5000002", "-N", "7", "-inflight", "3")
	if len(lines) != 2 || lines[0].Type != "packet" || lines[1].Type != "stream" { // too large for small packets
		t.Errorf("%+v", lines)
	}
}

func TestLatency(t *testing.T) {
	testlength.Long(t)
	needMedium(t)
	lines := jsonLines(t, "-latency", "-S", "1", "-E", "100001", "-M", "300", "-N", "30", "-tcp", "-mode", "normal")
	if len(lines) != 9 {
		t.Fatalf("%d points, want 3 lengths of 3 kinds: %+v", len(lines), lines)
	}
	for _, l := range lines {
		if l.Count != 30 || l.Latency["p50"] <= 0 || l.Throughput != 0 || l.InFlight != 1 {
			t.Errorf("%+v", l)
		}
	}
}

func TestOverTCPTransport(t *testing.T) {
	lines := jsonLines(t, "-transport", "tcp", "-S", "100", "-E", "100001", "-M", "900", "-N", "30", "-inflight", "4", "-w")
	if len(lines) != 5 { // 100 and 90000 bytes: packets, small ones of 100, and streams
		t.Fatalf("%+v", lines)
	}
	for _, l := range lines {
		if l.Transport != "tcp" {
			t.Errorf("%+v", l)
		}
	}
}

func TestTableAndPicture(t *testing.T) {
	testlength.Long(t)
	needMedium(t)
	for _, kind := range []string{"-tcp", "-latency"} {
		picture := filepath.Join(t.TempDir(), "picture.svg")
		out := measured(t, kind, "-t", "1ms", "-S", "64", "-E", "1025", "-plot", picture)
		if !strings.Contains(out, "   Length   ") || !strings.Contains(out, "CPU ns/byte") {
			t.Errorf("%s: no table:\n%s", kind, out)
		}
		if b, err := os.ReadFile(picture); err != nil || !strings.Contains(string(b), "<svg") {
			t.Errorf("%s: no picture: %v", kind, err)
		}
	}
}

// A server stays, serves whoever comes, and outlives strangers and clients that vanish.
func TestServerAndClients(t *testing.T) {
	needMedium(t)
	_, port := server(t)
	for _, nonsense := range []string{"", "GET / HTTP/1.1\r\n\r\n", `{"Mode":"normal","Type":"packet","Length":-1}` + "\n"} {
		conn, err := net.Dial("tcp", "localhost:"+port)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Write([]byte(nonsense)); err != nil {
			t.Fatal(err)
		}
		_ = conn.Close()
	}
	for range 2 {
		if lines := jsonLines(t, "-d", "localhost", "-p", port, "-S", "1000", "-E", "1001", "-N", "20", "-inflight", "2"); len(lines) != 3 {
			t.Errorf("%+v", lines)
		}
	}
}

func TestServerDies(t *testing.T) {
	needMedium(t)
	cmd, port := server(t)
	ended := make(chan outcome, 1)
	conn, err := net.Dial("tcp", "localhost:"+port) // the client behind it waits
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() { ended <- run(t, "-d", "localhost", "-p", port) }()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if o := <-ended; o.status != 1 || !strings.HasPrefix(o.stderr, "exs_blast: ") {
		t.Errorf("status %d, %q", o.status, o.stderr)
	}
}

func TestHelp(t *testing.T) {
	help := measured(t, "-h")
	for _, flag := range []string{"-latency", "-mode", "-tcp", "-type", "-inflight", "-S", "-E", "-M", "-t", "-N", "-s", "-d", "-p", "-transport", "-pin", "-w", "-spin", "-json", "-plot"} {
		if !strings.Contains(help, "\n  "+flag+" ") {
			t.Errorf("-h does not explain %s", flag)
		}
	}
}

func TestBadInput(t *testing.T) {
	for args, said := range map[string]string{
		"-zz":                            "-h explains",
		"extra":                          `"extra"`,
		"-mode quick":                    "no mode \"quick\"",
		"-mode inplace -type stream":     "of type packet",
		"-type datagram":                 "no type \"datagram\"",
		"-mode tcp -type packet":         "conn and TCP are streams",
		"-mode conn,normal -type packet": "-mode conn",
		"-mode conn -inflight 4":         "one at a time",
		"-inflight 0":                    "want 1 to 256",
		"-inflight 257":                  "want 1 to 256",
		"-inflight x":                    "want numbers",
		"-latency -inflight 2":           "exclude each other",
		"-S 0":                           "at least 1",
		"-S 9 -E 9":                      "nothing to measure",
		"-M 1":                           "larger steps",
		"-S 1000000000 -E 1000000001 -type stream -mode normal": "1 GiB",
		"-N 0":                    "-N 0",
		"-N 5 -t 1s":              "exclude each other",
		"-t 0s":                   "-t 0s",
		"-w -spin 1ms":            "exclude each other",
		"-spin -1s":               "not negative",
		"-s -N 10":                "takes its orders from the client",
		"-s -d localhost":         "exclude each other",
		"-p 70000 -s":             "want a port",
		"-p 7000":                 "-s or -d",
		"-d localhost -p 1":       "exs_blast -s -p 1",
		"-plot x.gif":             ".svg",
		"-pin 0":                  "two cores",
		"-pin 5000,0":             "core 5000",
		"-transport pigeon":       "no transport \"pigeon\"",
		"-transport mem":          "within one process",
		"-d no.such.host.invalid": "no.such.host.invalid",
	} {
		t.Run(args, func(t *testing.T) {
			o := run(t, strings.Fields(args)...)
			if o.status != 1 || !strings.Contains(o.stderr, said) || !strings.HasPrefix(o.stderr, "exs_blast: ") {
				t.Errorf("status %d, said %q, should say %q", o.status, o.stderr, said)
			}
			if o.stdout != "" {
				t.Errorf("printed %q before it failed", o.stdout)
			}
		})
	}
}
