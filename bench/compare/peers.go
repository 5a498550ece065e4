package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gomx/bench/internal/child"
	"gomx/bench/internal/mpis"
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
	*mpis.MPI
	rig         rig
	folder, dir string // filled in by build
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

func knownMPIs(r rig) (known []*mpi) {
	for _, m := range mpis.Known() {
		known = append(known, &mpi{MPI: m, rig: r})
	}
	return known
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

func (m *mpi) locate() error {
	if m.rig.ranks != "" {
		return m.LocateLauncher()
	}
	return m.Locate()
}

func (m *mpi) name() string { return m.Name }

func (m *mpi) does(j job) bool { return j.quantity != "alloc" }

// way is what has the MPI use a medium: arguments of its launcher, and variables. Shared
// memory every MPI takes on a host by itself.
func (m *mpi) way(over medium) (args, env []string) {
	switch over {
	case tcp:
		return m.TCPArgs, m.TCPEnv
	case rdma:
		return m.RDMAArgs, m.rig.verbsVariables()
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
		if err := m.Compile(ctx, source, m.program(dir, name)); err != nil {
			return err
		}
	}
	m.folder = dir
	return nil
}

// program is where a rank program lies that is compiled for this MPI.
func (m *mpi) program(folder, name string) string { return filepath.Join(folder, name+"."+m.Name) }

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
	name, ranks, args := "pingpong", 2, j.rankArgs
	if j.ranks > 0 {
		name, ranks = "collective", j.ranks
	} else {
		// Even if this program is killed, its ranks end.
		args = func(at setting) []string {
			return append(j.args(at), "-deadline", fmt.Sprint(int((at.timeout + deadlineSlack).Seconds())))
		}
	}
	wayArgs, wayEnv := m.way(j.medium)
	command := m.Start(ranks, m.dir, wayArgs, wayEnv, append([]string{m.program(m.folder, name)}, args(at)...)...)
	command.Timeout = at.timeout
	return command
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
