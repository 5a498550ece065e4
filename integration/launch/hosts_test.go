//go:build linux

package launch_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gomx/integration/internal/netns"
	"gomx/integration/internal/proc"
)

// hosts makes some hosts, which share nothing but a network: not even the name of the first is
// resolved by anything but their files.
func hosts(t *testing.T, n int) *netns.Net {
	t.Helper()
	return netns.New(t, netns.Options{Hosts: n})
}

// start starts a program on a host.
func start(t *testing.T, h *netns.Host, env []string, command ...string) proc.Program {
	t.Helper()
	return proc.StartProgram(t, proc.Options{Under: h.Under(), Env: env, Life: life}, command...)
}

// joined runs a rank on each host, with the environment that env makes for it, and joins their
// outcomes: the highest status, and all lines.
func joined(t *testing.T, n *netns.Net, env func(rank int) []string, command ...string) (all outcome) {
	t.Helper()
	var started []proc.Program
	for rank, h := range n.Hosts {
		started = append(started, start(t, h, env(rank), command...))
	}
	for _, p := range started {
		o := ran(p)
		all.status = max(all.status, o.status)
		all.lines = append(all.lines, o.lines...)
	}
	return all
}

// hostsByHand has a rank on each host, without any launcher.
func hostsByHand(t *testing.T, bin string) {
	n := hosts(t, 3)
	for name, c := range map[string]struct {
		secret bool
		env    func(rank int) []string
	}{
		"hand": {false, func(rank int) []string {
			return []string{fmt.Sprint("MX_RANK=", rank), "MX_SIZE=3", "MX_ROOT=" + n.Hosts[0].Name + ":24999"}
		}},
		"Kubernetes": {true, func(rank int) []string {
			return []string{fmt.Sprint("JOB_COMPLETION_INDEX=", rank), "MX_SIZE=3", "MX_ROOT=" + n.Hosts[0].Name + ":24999", "MX_SECRET=sesame"}
		}},
		"torchrun": {false, func(rank int) []string {
			return []string{fmt.Sprint("RANK=", rank), "WORLD_SIZE=3", "MASTER_ADDR=" + n.Hosts[0].V4.String(), "MASTER_PORT=24999"}
		}},
		"Slurm": {false, func(rank int) []string {
			return []string{
				fmt.Sprint("SLURM_PROCID=", rank), "SLURM_STEP_NUM_TASKS=3", "SLURM_JOB_ID=7", "SLURM_STEP_ID=0",
				"SLURM_STEP_NUM_NODES=3", "SLURM_STEP_NODELIST=gomx-host[1-3]",
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			wantExchange(t, joined(t, n, c.env, filepath.Join(bin, exchange)), 3, name, c.secret)
			wantResults(t, func(program string, args ...string) outcome {
				return joined(t, n, c.env, append([]string{filepath.Join(bin, program)}, args...)...)
			})
		})
	}
}

// lateName starts a rank before anybody knows the name of rank 0, as pods do.
func lateName(t *testing.T, bin string) {
	n := hosts(t, 2)
	program := filepath.Join(bin, exchange)
	late := []string{"MX_SIZE=2", "MX_ROOT=ranks-0.ranks:24999"}
	first := start(t, n.Hosts[1], append(late, "JOB_COMPLETION_INDEX=1"), program)
	second := start(t, n.Hosts[0], append(late, "JOB_COMPLETION_INDEX=0"), program)
	n.Hosts[1].WriteHosts(n.Hosts[0].V4.String() + " ranks-0.ranks\n" + n.Hosts[1].V4.String() + " " + n.Hosts[1].Name + "\n")
	a, b := ran(first), ran(second)
	wantExchange(t, outcome{append(a.lines, b.lines...), max(a.status, b.status)}, 2, "Kubernetes", false)
}

// hydraOnHosts has Hydra start ranks on several hosts, with something in the place of ssh.
func hydraOnHosts(t *testing.T, bin string) {
	mpiexec := need(t, "mpiexec.hydra", "mpich")
	n := hosts(t, 2)
	ssh := standIn(t, n)
	list := filepath.Join(t.TempDir(), "hosts")
	if err := os.WriteFile(list, []byte(n.Hosts[0].Name+":2\n"+n.Hosts[1].Name+":2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) outcome {
		return ran(start(t, n.Hosts[0], nil, append([]string{mpiexec, "-launcher", "ssh", "-launcher-exec", ssh, "-f", list}, args...)...))
	}
	wantExchange(t, run("-n", "4", filepath.Join(bin, exchange)), 4, "Hydra", true)
	wantExchange(t, run("-n", "6", filepath.Join(bin, exchange), "-length", "9000"), 6, "Hydra", true)
	wantResults(t, func(program string, args ...string) outcome {
		return run(append([]string{"-n", "4", filepath.Join(bin, program)}, args...)...)
	})
	if o := run("-n", "4", filepath.Join(bin, exchange), "-abort", "3"); o.status == 0 {
		t.Errorf("%v\nwant a failure", o)
	}
	t.Run("docs/cluster/hydra.sh", func(t *testing.T) {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", "cluster", "hydra.sh"))
		if err != nil {
			t.Fatal(err)
		}
		ours := strings.NewReplacer("node01", n.Hosts[0].Name, "node02", n.Hosts[1].Name).Replace(string(text))
		env := []string{"HYDRA_LAUNCHER=ssh", "HYDRA_LAUNCHER_EXEC=" + ssh}
		wantExchange(t, ran(start(t, n.Hosts[0], env, script(t, ours), filepath.Join(bin, exchange))), 8, "Hydra", true)
	})
}

// standIn returns a program that starts commands on hosts as ssh does.
func standIn(t *testing.T, n *netns.Net) string {
	t.Helper()
	text := "while :; do case $1 in -*) shift;; *) break;; esac; done\nhost=$1; shift\ncase $host in\n"
	for _, h := range n.Hosts {
		text += h.Name + ") exec "
		for _, word := range h.Under() {
			text += "'" + word + "' "
		}
		text += `sh -c "exec $*";;` + "\n"
	}
	return script(t, text+"esac\necho no host $host >&2; exit 1")
}
