package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gomx/bench/compare/internal/child"
)

const (
	// buildTimeout bounds each compilation.
	buildTimeout = 2 * time.Minute
	// deadlineSlack is how much later than their launcher is given up on ranks
	// end of their own accord.
	deadlineSlack = 10 * time.Second
)

//go:embed mpi/pingpong.c
var rankProgram []byte

//go:embed mpi/collective.c
var collectiveProgram []byte

// mpi is an implementation of MPI, measured with mpi/pingpong.c and mpi/collective.c.
type mpi struct {
	word       string // its name in tables and flags
	compiler   string // command name
	launcher   string
	launchArgs []string
	bound      []string // that bind each rank to a core
	crowded    []string // that start more ranks than there are cores
	launchEnv  []string
	tcpArgs    []string // of the launcher, to have it use TCP and nothing else
	tcpEnv     []string // likewise
	rdmaArgs   []string // to have it use UCX
	rig        rig

	// Filled in by locate and build.
	compilerPath, launcherPath, folder, dir string
}

// knownPeers are all that gomx can be compared with, in the order of their columns.
func knownPeers(r rig) []peer {
	peers := []peer{&bareSocket{}}
	for _, p := range knownPerftests(r) {
		peers = append(peers, p)
	}
	for _, m := range knownMPIs(r) {
		peers = append(peers, m)
	}
	return peers
}

// knownMPIs are told apart by command name, since both may be installed and
// plain mpicc is whichever the machine's owner chose.
func knownMPIs(r rig) []*mpi {
	return []*mpi{{
		word: "openmpi", compiler: "mpicc.openmpi", launcher: "mpirun.openmpi",
		launchArgs: []string{"--allow-run-as-root"},
		bound:      []string{"--bind-to", "core"},
		crowded:    []string{"--bind-to", "none", "--oversubscribe"},
		launchEnv:  []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"},
		tcpArgs:    []string{"--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo"},
		rdmaArgs:   []string{"--mca", "pml", "ucx"},
		rig:        r,
	}, {
		word: "mpich", compiler: "mpicc.mpich", launcher: "mpirun.mpich",
		bound:   []string{"-bind-to", "core"},
		crowded: []string{"-bind-to", "none"},
		tcpEnv:  []string{"UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo"},
		rig:     r,
	}}
}

func peerNames() []string {
	var names []string
	for _, p := range knownPeers(rig{}) {
		names = append(names, p.name())
	}
	return names
}

// findPeers returns those of the wanted peers that are there and have something
// to do, and for each of the others that have an error that says what is lacking.
func findPeers(r rig, wanted []string, plan []job) (found []peer, lacking []error) {
	for _, p := range knownPeers(r) {
		if !slices.Contains(wanted, p.name()) || !slices.ContainsFunc(plan, p.does) {
			continue
		}
		if err := p.locate(); err != nil {
			lacking = append(lacking, fmt.Errorf("%s: %w", p.name(), err))
			continue
		}
		found = append(found, p)
	}
	return found, lacking
}

func (m *mpi) locate() (err error) {
	if m.compilerPath, err = exec.LookPath(m.compiler); err != nil && m.rig.ranks == "" {
		return fmt.Errorf("not installed: no %s in PATH", m.compiler)
	}
	if m.launcherPath, err = exec.LookPath(m.launcher); err != nil {
		return fmt.Errorf("not installed: no %s in PATH", m.launcher)
	}
	return nil
}

func (m *mpi) name() string { return m.word }

func (m *mpi) does(j job) bool { return j.quantity != "alloc" }

// way is what has the MPI use a medium: arguments of its launcher, and variables. Shared
// memory every MPI takes on a host by itself.
func (m *mpi) way(over medium) (args, env []string) {
	switch over {
	case tcp:
		return m.tcpArgs, m.tcpEnv
	case rdma:
		return m.rdmaArgs, m.rig.verbsVariables()
	}
	return nil, nil
}

func (m *mpi) over(way medium) string {
	args, env := m.way(way)
	return strings.Join(slices.Concat(env, args), " ")
}

func (m *mpi) build(ctx context.Context, dir string) error {
	m.dir = dir
	if m.rig.ranks != "" {
		m.folder = m.rig.ranks
		return nil
	}
	for name, text := range map[string][]byte{"pingpong": rankProgram, "collective": collectiveProgram} {
		source := filepath.Join(dir, name+".c")
		if err := os.WriteFile(source, text, 0o600); err != nil {
			return err
		}
		compile := child.Command{Path: m.compilerPath, Args: []string{"-O2", "-o", m.program(dir, name), source, "-lm"}, Timeout: buildTimeout}
		if _, _, err := child.Run(ctx, compile); err != nil {
			return fmt.Errorf("%s: compiling the rank program %s: %w", m.word, name, err)
		}
	}
	m.folder = dir
	return nil
}

// program is where a rank program lies that is compiled for this MPI.
func (m *mpi) program(folder, name string) string { return filepath.Join(folder, name+"."+m.word) }

func (m *mpi) run(ctx context.Context, j job, at setting) ([]record, error) {
	records, err := at.records(ctx, m.command(j, at))
	if errors.Is(err, child.ErrTimeout) {
		// MPICH over UCX's TCP now and then does not come out of MPI_Finalize. Its figures are there by then.
		if all, short := pick(records, j); short == nil {
			return all, nil
		}
	}
	return records, err
}

func (m *mpi) command(j job, at setting) child.Command {
	args := slices.Clone(m.launchArgs)
	// Launchers keep their session files under TMPDIR: there they go with the rest.
	env := append(withoutLaunchers(os.Environ()), "TMPDIR="+m.dir)
	env = append(env, m.launchEnv...)
	wayArgs, wayEnv := m.way(j.medium)
	args, env = append(args, wayArgs...), append(env, wayEnv...)
	if j.ranks > 0 {
		args = append(append(args, m.placed(j.ranks)...), m.program(m.folder, "collective"))
		args = append(args, j.rankArgs(at)...)
		return child.Command{Path: m.launcherPath, Args: args, Env: env, Timeout: at.timeout}
	}
	args = append(append(args, m.placed(2)...), m.program(m.folder, "pingpong"))
	args = append(args, j.args(at)...)
	// Even if this program is killed, its ranks end.
	args = append(args, "-deadline", fmt.Sprint(int((at.timeout + deadlineSlack).Seconds())))
	return child.Command{Path: m.launcherPath, Args: args, Env: env, Timeout: at.timeout}
}

// placed are the launcher's arguments that start so many ranks.
func (m *mpi) placed(ranks int) []string {
	where := m.bound
	if ranks > 2 {
		where = m.crowded
	}
	return append(slices.Clone(where), "-np", fmt.Sprint(ranks))
}

// withoutLaunchers drops what an outer launcher or batch system may have put
// into the environment, which would make an MPI join that job rather than start
// its own. What tunes an MPI (OMPI_MCA_..., MPIR_CVAR_..., UCX_...) is kept.
func withoutLaunchers(env []string) []string {
	foreign := []string{"PMI_", "PMI2_", "PMIX_", "PRTE_", "HYDI_", "MPI_LOCAL", "OMPI_COMM_", "OMPI_UNIVERSE_",
		"OMPI_MCA_ess", "OMPI_MCA_orte_", "SLURM_", "FLUX_", "TMPDIR="}
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		return slices.ContainsFunc(foreign, func(prefix string) bool { return strings.HasPrefix(entry, prefix) })
	})
}

// libraryName shortens what an MPI says of itself to name, version and device.
func libraryName(long string) string {
	parts := strings.Split(long, ";")
	if rest, ok := strings.CutPrefix(parts[0], "MPICH Version:"); ok {
		name := "MPICH " + strings.TrimSpace(rest)
		for _, part := range parts[1:] {
			if device, ok := strings.CutPrefix(part, "MPICH Device:"); ok {
				name += " (" + strings.TrimSpace(device) + ")"
			}
		}
		return name
	}
	name, _, _ := strings.Cut(parts[0], ",")
	return strings.Replace(strings.TrimSpace(name), "Open MPI v", "Open MPI ", 1)
}
