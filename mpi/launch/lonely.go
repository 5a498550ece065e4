package launch

import (
	"fmt"
	"os"
	"strings"
)

// hint is how a launcher that left no usable way shows, and what to type instead.
type hint struct {
	by     string
	size   []string // variables with the number of ranks
	rank   []string // variables with the rank
	advice string
}

const (
	hydra = "mpiexec.hydra -n %d %s"
	slurm = "srun --mpi=pmi2 -n %d %s"
)

var hints = []hint{
	{"Slurm, as a task of a step", []string{"SLURM_STEP_NUM_TASKS"}, []string{"SLURM_PROCID"}, slurm},
	{"Open MPI or another launcher with PMIx", []string{"OMPI_COMM_WORLD_SIZE"}, []string{"OMPI_COMM_WORLD_RANK", "PMIX_RANK"}, hydra},
	{"a launcher with PMIx", nil, []string{"PMIX_RANK"}, hydra},
	{"MVAPICH's launcher", []string{"MV2_COMM_WORLD_SIZE"}, []string{"MV2_COMM_WORLD_RANK"}, hydra},
	{"Flux", []string{"FLUX_JOB_SIZE"}, []string{"FLUX_TASK_RANK"}, hydra},
	{"a launcher with PMI", []string{"PMI_SIZE"}, []string{"PMI_RANK"}, hydra},
	{"torchrun", []string{"WORLD_SIZE"}, []string{"RANK"}, hydra},
	{"Slurm, but without srun, in an allocation for several tasks", []string{"SLURM_NTASKS"}, []string{"SLURM_PROCID"}, slurm},
}

// lonely returns an error if the environment says that there are several ranks though nothing leads
// to the others. unusable is what a PMI server that it names would not do.
func lonely(env environ, s *settings, unusable error) error {
	for _, h := range hints {
		size, sized := env.first(h.size...)
		rank, ranked := env.first(h.rank...)
		several := sized && size > 1 || len(h.size) == 0 && ranked && !oneSays(env)
		if !several {
			continue
		}
		if rank > 0 && unusable != nil { // that may be so for this process alone, as for one that a rank has started
			return fmt.Errorf("%w: started by %s: %w; MX_SINGLETON=1 runs this process alone%s", ErrNoWay, h.by, ErrSaidByRank0, reason(unusable))
		}
		if rank > 0 {
			return fmt.Errorf("%w: started by %s: %w", ErrNoWay, h.by, ErrSaidByRank0)
		}
		return fmt.Errorf("%w: this process was started by %s; start it with %s, or set MX_RANK, MX_SIZE and MX_ROOT, "+
			"or MX_SINGLETON=1 to run it alone%s", ErrNoWay, h.several(size), h.command(size), reason(unusable))
	}
	if s.size > 1 { // none of them knows whether it is rank 0
		return fmt.Errorf("%w: MX_SIZE=%d says that there are as many ranks, and nothing says which of them this process is: set MX_RANK, from 0 to %d, in each; "+
			"a job of Kubernetes sets JOB_COMPLETION_INDEX if it has completionMode: Indexed; MX_SINGLETON=1 runs this process alone%s", ErrNoWay, s.size, s.size-1, reason(unusable))
	}
	if unusable != nil {
		return fmt.Errorf("%w: the environment names a PMI server that can't be used; MX_SINGLETON=1 runs this process alone%s", ErrNoWay, reason(unusable))
	}
	return nil
}

// RankSaid returns the rank that the launcher has left in the environment of this process, or MX_RANK has; 0 if none says so. Find
// alone knows whether there is a job. Safe from any goroutine.
func RankSaid() int {
	env := environ(os.Getenv)
	names := []string{"MX_RANK", "JOB_COMPLETION_INDEX"}
	for _, h := range hints {
		names = append(names, h.rank...)
	}
	rank, _ := env.first(names...)
	return rank
}

// oneSays reports whether some launcher counts one rank: whoever sets PMIX_RANK does not.
func oneSays(env environ) bool {
	n, ok := env.first("OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "PMI_SIZE")
	return ok && n == 1
}

func (h *hint) several(size int) string {
	if size > 1 {
		return fmt.Sprintf("%s (%s=%d)", h.by, h.size[0], size)
	}
	return fmt.Sprintf("%s (%s is set)", h.by, strings.Join(h.rank, " or "))
}

func (h *hint) command(size int) string { return fmt.Sprintf(h.advice, max(size, 2), "PROGRAM") }

func reason(unusable error) string {
	if unusable == nil {
		return ""
	}
	return "\n" + unusable.Error()
}
