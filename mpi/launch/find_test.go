package launch

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"gomx/internal/freeport"
)

func TestAlone(t *testing.T) {
	for _, words := range [][]string{
		nil,
		{"MX_SINGLETON=1", "SLURM_STEP_NUM_TASKS=4", "SLURM_PROCID=2", "PMI_FD=77", "MX_RANK=3"},
		{"MX_RANK=0", "MX_SIZE=1"},
		{"SLURM_STEP_NUM_TASKS=1", "SLURM_PROCID=0", "SLURM_NTASKS=1", "SLURM_STEP_NODELIST=a", "PMIX_RANK=0"},
		{"SLURM_NTASKS=1", "SLURM_PROCID=0"},
		{"OMPI_COMM_WORLD_SIZE=1", "OMPI_COMM_WORLD_RANK=0", "PMIX_RANK=0"},
		{"RANK=0", "WORLD_SIZE=1", "MASTER_ADDR=a", "MASTER_PORT=1"},
		{"JOB_COMPLETION_INDEX=0", "MX_SIZE=1"},
		{"MX_SIZE=1", "MX_ROOT=a:5"},
		{"MX_ROOT=a:5"},
	} {
		j, err := find(world(words...))
		if err != nil {
			t.Errorf("%q: %v", words, err)
			continue
		}
		if j.Rank() != 0 || j.Size() != 1 || j.HostID() == "" || j.Lost() != nil || j.Secret() != nil {
			t.Errorf("%q: rank %d of %d, host %q", words, j.Rank(), j.Size(), j.HostID())
		}
		j.Abort(3, "nobody hears this")
		if err := errors.Join(swap(j, 0, 10), j.Finalize()); err != nil {
			t.Errorf("%q: %v", words, err)
		}
	}
}

// TestDescriptorOfAFile: a descriptor of that number is open, and is not the launcher's.
func TestDescriptorOfAFile(t *testing.T) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = find(world(fmt.Sprint("PMI_FD=", f.Fd()), "PMI_RANK=0", "PMI_SIZE=2"))
	if err == nil || !strings.Contains(err.Error(), "is no socket: ") || !strings.Contains(err.Error(), "MX_ROOT") {
		t.Error(err)
	}
}

// TestNeverSingletonsInSilence has environments of several ranks that lead nowhere.
func TestNeverSingletonsInSilence(t *testing.T) {
	for _, c := range []struct{ rank0, rank1, advice string }{
		{"SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=3", "srun --mpi=pmi2 -n 4"},
		{"SLURM_NTASKS=4", "", "srun --mpi=pmi2 -n 4"},
		{"SLURM_NTASKS=4 SLURM_PROCID=0", "", "srun --mpi=pmi2 -n 4"},
		{"OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 PMIX_RANK=0", "OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 PMIX_RANK=1", "mpiexec.hydra -n 2"},
		{"PMIX_RANK=0", "PMIX_RANK=1", "mpiexec.hydra"},
		{"PMI_SIZE=8 PMI_RANK=0", "PMI_SIZE=8 PMI_RANK=7", "mpiexec.hydra -n 8"},
		{"PMI_SIZE=8 PMI_RANK=0 PMI_FD=123456", "PMI_SIZE=8 PMI_RANK=7 PMI_FD=123456", "container runtimes"},
		{"PMI_FD=123456 PMI_RANK=0 PMI_SIZE=1", "", "container runtimes"},
		{"WORLD_SIZE=2 RANK=0", "WORLD_SIZE=2 RANK=1", "mpiexec.hydra -n 2"},
		{"FLUX_JOB_SIZE=2 FLUX_TASK_RANK=0", "FLUX_JOB_SIZE=2 FLUX_TASK_RANK=1", "mpiexec.hydra -n 2"},
		{"JOB_COMPLETION_INDEX=0", "", "MX_SIZE"},
		{"MX_RANK=0", "", "MX_SIZE"},
		{"MX_RANK=0 MX_SIZE=2", "", "MX_ROOT"},
		{"MX_SIZE=4", "", "MX_RANK"},
		{"MX_SIZE=4 MX_ROOT=a:5", "", "completionMode: Indexed"},
	} {
		_, err := find(world(strings.Fields(c.rank0)...))
		if err == nil || !strings.Contains(err.Error(), c.advice) || errors.Is(err, ErrSaidByRank0) {
			t.Errorf("%s: %v, want advice with %q", c.rank0, err, c.advice)
		}
		if err != nil && !strings.Contains(c.rank0, "MX_RANK") && !strings.Contains(err.Error(), "MX_SINGLETON=1") {
			t.Errorf("%s: %v does not say how to run alone", c.rank0, err)
		}
		if c.rank1 == "" {
			continue
		}
		_, err = find(world(strings.Fields(c.rank1)...))
		if !errors.Is(err, ErrSaidByRank0) || !errors.Is(err, ErrNoWay) {
			t.Errorf("%s: %v, want one that leaves the talking to rank 0", c.rank1, err)
		}
		if err != nil && strings.Contains(c.rank1, "PMI_FD") && !strings.Contains(err.Error(), "MX_SINGLETON=1") {
			t.Errorf("%s: %v does not say how to run alone, as a program that a rank has started may want to", c.rank1, err)
		}
	}
}

func TestBadVariables(t *testing.T) {
	for _, word := range []string{
		"MX_RANK=-1", "MX_RANK=x", "MX_SIZE=0", "MX_SIZE=9999999", "MX_ROOT=host", "MX_ROOT=:1", "MX_ROOT=h:0", "MX_ROOT=h:70000",
		"MX_SINGLETON=maybe", "MX_NOLOCAL=2", "MX_CLIQUES=-1", "MX_LAUNCH_TIMEOUT=0", "MX_MEET_TIMEOUT=soon", "MX_MEET_TIMEOUT=-1s",
	} {
		name, _, _ := strings.Cut(word, "=")
		if _, err := find(world(word)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, want an error that names it", word, err)
		}
	}
	if _, err := find(world("MX_RANK=2", "MX_SIZE=2", "MX_ROOT=a:1")); err == nil || !strings.Contains(err.Error(), "MX_RANK=2") {
		t.Errorf("a rank that is too high: %v", err)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("MX_CLIQUES", "3")
	t.Setenv("MX_MEET_TIMEOUT", "90")
	all, err := Environment()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]Variable{
		"MX_CLIQUES":      {Default: "0", Value: "3", Source: "environment"},
		"MX_MEET_TIMEOUT": {Default: "5m0s", Value: "1m30s", Source: "environment"},
		"MX_ROOT":         {Default: "none", Value: "none", Source: "default"},
	} {
		i := slices.IndexFunc(all, func(v Variable) bool { return v.Name == name })
		if i < 0 || all[i].Default != want.Default || all[i].Value != want.Value || all[i].Source != want.Source {
			t.Errorf("%s is not %v in %v", name, want, all)
		}
	}
	t.Setenv("MX_CLIQUES", "many")
	if _, err := Environment(); err == nil {
		t.Error("a bad value was taken")
	}
}

func TestSlurmAddresses(t *testing.T) {
	for list, want := range map[string]string{
		"login": "login", "n1,n2": "n1", "node[001-004,7],login": "node001", "node[7,9]": "node7",
		"rack[2-3]n[1-8]": "rack2n1", "a[05].example.org": "a05.example.org",
	} {
		if got, err := firstHost(list); err != nil || got != want {
			t.Errorf("the first host of %s is %s, not %q, %v", list, want, got, err)
		}
	}
	for _, list := range []string{"", "a[1-2", ",a"} {
		if host, err := firstHost(list); err == nil {
			t.Errorf("the list %q has a first host %q", list, host)
		}
	}
	env := []string{"SLURM_JOB_ID=7", "SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2", "SLURM_STEP_NODELIST=n[3-4]", "SLURM_STEP_NUM_NODES=2"}
	s := defaultSettings()
	p, err := bySlurm(world(env...), &s)
	if err != nil || p.host != "n3" || len(p.ports) != morePorts || p.ports[0] < 25000 || p.ports[0] > 32000 {
		t.Errorf("a step of two hosts: %+v, %v", p, err)
	}
	p, err = bySlurm(world(append(env, "SLURM_STEP_RESV_PORTS=12000-12001")...), &s)
	if err != nil || !slices.Equal(p.ports, []int{12000, 12001}) {
		t.Errorf("a step with reserved ports: %+v, %v", p, err)
	}
	s.root = "there:99"
	p, err = bySlurm(world(env...), &s)
	if err != nil || p.host != "there" || !slices.Equal(p.ports, []int{99}) {
		t.Errorf("a step with MX_ROOT: %+v, %v", p, err)
	}
}

// TestConventions starts jobs as launchers without PMI do, all on this host.
func TestConventions(t *testing.T) {
	for name, words := range map[string]string{
		"hand":       "MX_RANK=%[1]d MX_SIZE=3 MX_ROOT=localhost:%[2]d",
		"Slurm":      "SLURM_JOB_ID=%[2]d SLURM_STEP_ID=0 SLURM_PROCID=%[1]d SLURM_STEP_NUM_TASKS=3 SLURM_STEP_NODELIST=x SLURM_STEP_NUM_NODES=1 PMIX_RANK=%[1]d",
		"Kubernetes": "JOB_COMPLETION_INDEX=%[1]d MX_SIZE=3 MX_ROOT=127.0.0.1:%[2]d",
		"torchrun":   "RANK=%[1]d WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=%[2]d TORCHELASTIC_USE_AGENT_STORE=True",
	} {
		t.Run(name, func(t *testing.T) {
			port := freeport.Take(t)
			var envs []environ
			for rank := range 3 {
				// A descriptor that is not open must not keep the ranks from meeting.
				envs = append(envs, world(strings.Fields(fmt.Sprintf(words, rank, port)+" PMI_FD=123456 PMI_SIZE=3 PMI_RANK=1")...))
			}
			together(t, envs, func(j *Job) error {
				if j.Launcher() != name {
					return fmt.Errorf("the launcher is %s", j.Launcher())
				}
				return errors.Join(swap(j, 0, 20), j.Finalize())
			})
		})
	}
}
