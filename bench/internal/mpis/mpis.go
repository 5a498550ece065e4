package mpis

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"gomx/bench/internal/child"
)

// buildTimeout bounds each compilation.
const buildTimeout = 2 * time.Minute

// MPI is an implementation of MPI. Locate fills in where it lies.
type MPI struct {
	Name       string // of files
	Title      string // as it is written
	Compiler   string // command name
	Launcher   string
	LaunchArgs []string
	Bound      []string // that bind each rank to a core
	Crowded    []string // that start more ranks than there are cores
	LaunchEnv  []string
	TCPArgs    []string // of the launcher, to have it use TCP and nothing else
	TCPEnv     []string // likewise
	RDMAArgs   []string // to have it use UCX

	CompilerPath, LauncherPath string
}

// Known are told apart by command name, since both may be installed and
// plain mpicc is whichever the machine's owner chose.
func Known() []*MPI {
	return []*MPI{{
		Name: "openmpi", Title: "Open MPI", Compiler: "mpicc.openmpi", Launcher: "mpirun.openmpi",
		LaunchArgs: []string{"--allow-run-as-root"},
		Bound:      []string{"--bind-to", "core"},
		Crowded:    []string{"--bind-to", "none", "--oversubscribe"},
		LaunchEnv:  []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"},
		// Windows are not the business of a btl alone: those of sm and rdma share memory whatever it is.
		TCPArgs:  []string{"--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo", "--mca", "osc", "^sm,rdma"},
		RDMAArgs: []string{"--mca", "pml", "ucx"},
	}, {
		Name: "mpich", Title: "MPICH", Compiler: "mpicc.mpich", Launcher: "mpirun.mpich",
		Bound:   []string{"-bind-to", "core"},
		Crowded: []string{"-bind-to", "none"},
		TCPEnv:  []string{"UCX_TLS=tcp,self", "UCX_NET_DEVICES=lo"},
	}}
}

// Locate finds the compiler and the launcher. Its error says which of them the machine lacks.
func (m *MPI) Locate() (err error) {
	if m.CompilerPath, err = exec.LookPath(m.Compiler); err != nil {
		return fmt.Errorf("not installed: no %s in PATH", m.Compiler)
	}
	return m.LocateLauncher()
}

// LocateLauncher is Locate for programs that are compiled already.
func (m *MPI) LocateLauncher() (err error) {
	if m.LauncherPath, err = exec.LookPath(m.Launcher); err != nil {
		return fmt.Errorf("not installed: no %s in PATH", m.Launcher)
	}
	return nil
}

// Compile makes the program out of a file in C.
func (m *MPI) Compile(ctx context.Context, source, program string) error {
	compile := child.Command{Path: m.CompilerPath, Args: []string{"-O2", "-o", program, source, "-lm"}, Timeout: buildTimeout}
	if _, _, err := child.Run(ctx, compile); err != nil {
		return fmt.Errorf("%s: compiling %s: %w", m.Name, source, err)
	}
	return nil
}

// Start is the command that starts so many ranks of a program. The launcher keeps its session
// files in tmp; way are arguments of its own, env variables besides those of the caller.
func (m *MPI) Start(ranks int, tmp string, way, env []string, program ...string) child.Command {
	where := m.Bound
	if ranks > 2 {
		where = m.Crowded
	}
	return child.Command{
		Path: m.LauncherPath,
		Args: slices.Concat(m.LaunchArgs, way, where, []string{"-np", fmt.Sprint(ranks)}, program),
		Env:  slices.Concat(WithoutLaunchers(os.Environ()), []string{"TMPDIR=" + tmp}, m.LaunchEnv, env),
	}
}

// WithoutLaunchers drops what an outer launcher or batch system may have put
// into the environment, which would make an MPI join that job rather than start
// its own. What tunes an MPI (OMPI_MCA_..., MPIR_CVAR_..., UCX_...) is kept.
func WithoutLaunchers(env []string) []string {
	foreign := []string{"PMI_", "PMI2_", "PMIX_", "PRTE_", "HYDI_", "MPI_LOCAL", "OMPI_COMM_", "OMPI_UNIVERSE_",
		"OMPI_MCA_ess", "OMPI_MCA_orte_", "SLURM_", "FLUX_", "TMPDIR="}
	return slices.DeleteFunc(slices.Clone(env), func(entry string) bool {
		return slices.ContainsFunc(foreign, func(prefix string) bool { return strings.HasPrefix(entry, prefix) })
	})
}
