package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gomx/internal/testlength"
	"gomx/mx"
)

func TestBadInput(t *testing.T) {
	testlength.Long(t)
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("8\neight\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, said := range map[string]string{
		"-zz":                          "-h explains",
		"extra":                        `"extra"`,
		"-transport pigeon":            "self",
		"-transport shm,pigeon -d x":   "no transport \"pigeon\"",
		"-transport mem -s":            "leave -s out",
		"-transport self -d localhost": "stays within this process",
		"-E 1073741825":                "1 GiB",
		"-S 5 -E 5":                    "nothing to measure",
		"-S -1":                        "first length -1",
		"-M 0.5":                       "at least 1",
		"-I 0":                         "-I 0",
		"-I 1 -M 2":                    "exclude each other",
		"-L " + bad:                    "line 2",
		"-L /no/such/file":             "no such file",
		"-L x -E 4":                    "exclude each other",
		"-N 0":                         "-N 0",
		"-W -1":                        "-W -1",
		"-window 0":                    "-window 0",
		"-window 65537":                "65536",
		"-posted 1048577":              "1048576",
		"-unexpected -4":               "-unexpected -4",
		"-mode swap":                   "message, put, get or atomic",
		"-mode put -V":                 "exclude each other",
		"-mode atomic -S 9 -E 10":      "multiple of 8",
		"-histogram -window 4":         "exclude each other",
		"-s -histogram":                "takes its orders from the sender",
		"-s -N 10":                     "takes its orders from the sender",
		"-s -d localhost":              "exclude each other",
		"-json -csv":                   "exclude each other",
		"-w -spin 1ms":                 "exclude each other",
		"-spin -1s":                    "not negative",
		"-plot x.gif":                  ".svg",
		"-plot x.svg -window 4":        "latency",
		"-pin 0":                       "two cores",
		"-pin 5000,0":                  "core 5000",
		"-f 4294967296":                "2^32",
		"-n zebra":                     "hexadecimal",
		"-n 1 -b 1":                    "exclude each other",
		"-n abcdef -transport self":    "mx_info",
		"-b 4000 -transport self":      "mx_info",
		"-e 5000 -transport self":      "4096",
		"-e 5000 -transport mem":       "4096",
		"-r 5000 -transport mem":       "4096",
		"-d no.such.host.invalid -r 3": "no.such.host.invalid",
		"-d 0x00a1c6336401":            "no way to that NIC",
	} {
		t.Run(args, func(t *testing.T) {
			if strings.Contains(args, "-d ") {
				needShm(t)
			}
			o := run(t, strings.Fields(args)...)
			if o.status != 1 || !strings.Contains(o.stderr, said) || !strings.HasPrefix(o.stderr, "mx_pingpong: ") {
				t.Errorf("status %d, said %q, should say %q", o.status, o.stderr, said)
			}
			if o.stdout != "" {
				t.Errorf("printed %q before it failed", o.stdout)
			}
		})
	}
}

func TestTransportThatIsNotThere(t *testing.T) {
	info := mx.RDMA()
	if info.Available {
		t.Skip("needs a machine without a usable RDMA device")
	}
	for _, list := range []string{"rdma", "rdma,tcp"} {
		o := run(t, "-transport", list, "-d", "localhost")
		for _, said := range []string{"transport rdma can't be used: ", info.Reason, "what can be used here: "} {
			if o.status != 1 || !strings.Contains(o.stderr, said) {
				t.Errorf("-transport %s: status %d, said %q, should say %q", list, o.status, o.stderr, said)
			}
		}
	}
}
