package launch

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strings"
)

// membership is the rank of a process that meets others at rank 0, and how it finds them.
type membership struct {
	launcher   string
	rank, size int
	job        string // tells jobs apart that use the same port by mistake
	host       string // of rank 0
	ports      []int  // rank 0 takes the first that is free
}

// conventions are the conventions by which launchers without PMI pass ranks in the environment, in order of precedence. Each
// function returns nil if the environment does not follow its convention.
var conventions = []func(env environ, s *settings) (*membership, error){byHand, bySlurm, byIndex, byTorch}

// morePorts is how many ports are tried where the first may belong to somebody else.
const morePorts = 8

func (p *membership) check() error {
	if p.size < 1 || p.rank < 0 || p.rank >= p.size {
		return fmt.Errorf("%s says rank %d of %d", p.launcher, p.rank, p.size)
	}
	return nil
}

// at sets the address of rank 0 to that of MX_ROOT, which has precedence over a launcher's.
func (p *membership) at(root string) error {
	host, port, err := splitRoot(root)
	p.host, p.ports = host, []int{port}
	return err
}

func byHand(env environ, s *settings) (*membership, error) {
	if s.rank < 0 {
		return nil, nil
	}
	p := &membership{launcher: "hand", rank: s.rank, size: s.size, job: "mx"}
	if s.size < 0 || s.root == "" && s.size > 1 {
		missing := "MX_SIZE and MX_ROOT"
		switch {
		case s.size >= 0:
			missing = "MX_ROOT"
		case s.root != "":
			missing = "MX_SIZE"
		}
		return nil, fmt.Errorf("MX_RANK is set without %s: set MX_RANK, MX_SIZE and MX_ROOT, or none of them", missing)
	}
	if s.rank >= s.size {
		return nil, fmt.Errorf("MX_RANK=%d: ranks of a job of MX_SIZE=%d are 0 to %d", s.rank, s.size, s.size-1)
	}
	if s.size == 1 {
		return p, nil
	}
	return p, p.at(s.root)
}

// bySlurm is for tasks of srun. A program that a batch script starts without it has some of the
// variables, but is no task of several.
func bySlurm(env environ, s *settings) (*membership, error) {
	rank, ranked := env.number("SLURM_PROCID")
	size, sized := env.first("SLURM_STEP_NUM_TASKS")
	if !ranked || !sized || env("SLURM_STEP_NODELIST") == "" {
		return nil, nil
	}
	job := env("SLURM_JOB_ID") + "." + env("SLURM_STEP_ID")
	p := &membership{launcher: "Slurm", rank: rank, size: size, job: "slurm " + job}
	if err := p.check(); err != nil || size == 1 {
		return p, err
	}
	if s.root != "" {
		return p, p.at(s.root)
	}
	var err error
	if p.host, err = firstHost(env("SLURM_STEP_NODELIST")); err != nil {
		return nil, err
	}
	if n, ok := env.number("SLURM_STEP_NUM_NODES"); ok && n == 1 {
		p.host = "127.0.0.1"
	}
	p.ports = slurmPorts(env("SLURM_STEP_RESV_PORTS"), job)
	return p, nil
}

// slurmPorts returns the ports that Slurm has reserved for the step, or some that a step has by its
// number.
func slurmPorts(reserved, job string) []int {
	var first, last int
	if n, _ := fmt.Sscanf(reserved, "%d-%d", &first, &last); n == 2 && 0 < first && first <= last {
		return portsFrom(first, last-first+1)
	}
	if n, _ := fmt.Sscanf(reserved, "%d", &first); n == 1 && first > 0 {
		return portsFrom(first, 1)
	}
	// Above those of endpoints, below those that systems give away.
	const low, high = 25000, 32000
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(job))
	return portsFrom(low+int(sum.Sum32()%(high-low-morePorts)), morePorts)
}

// firstHost returns the first host of a list as Slurm writes it, such as node[001-004,7],login or
// rack[2-3]n[1-8].
func firstHost(list string) (string, error) {
	var host strings.Builder
	for i := 0; i < len(list) && list[i] != ','; i++ {
		if list[i] != '[' {
			host.WriteByte(list[i])
			continue
		}
		end := strings.IndexByte(list[i:], ']')
		if end < 0 {
			return "", fmt.Errorf("SLURM_STEP_NODELIST=%s: a bracket is open", list)
		}
		numbers := list[i+1 : i+end]
		host.WriteString(numbers[:strings.IndexAny(numbers+",", ",-")])
		i += end
	}
	if host.Len() == 0 {
		return "", fmt.Errorf("SLURM_STEP_NODELIST=%s: no host", list)
	}
	return host.String(), nil
}

// byIndex is for indexed jobs of Kubernetes.
func byIndex(env environ, s *settings) (*membership, error) {
	rank, ok := env.number("JOB_COMPLETION_INDEX")
	if !ok {
		return nil, nil
	}
	if s.size < 0 || s.root == "" && s.size > 1 {
		return nil, errors.New("JOB_COMPLETION_INDEX is set, by Kubernetes it seems: the manifest must set MX_SIZE to the job's " +
			"completions and MX_ROOT to job-0.service:port as well, or MX_SINGLETON=1 if the pods have nothing to do with each other")
	}
	p := &membership{launcher: "Kubernetes", rank: rank, size: s.size, job: "index"}
	if err := p.check(); err != nil || p.size == 1 {
		return p, err
	}
	return p, p.at(s.root)
}

// byTorch is for torchrun, and for others who use its names.
func byTorch(env environ, s *settings) (*membership, error) {
	rank, ranked := env.number("RANK")
	size, sized := env.number("WORLD_SIZE")
	if !ranked || !sized || env("MASTER_ADDR") == "" {
		return nil, nil
	}
	p := &membership{launcher: "torchrun", rank: rank, size: size, job: "torch " + env("TORCHELASTIC_RUN_ID")}
	if err := p.check(); err != nil || size == 1 {
		return p, err
	}
	if s.root != "" {
		return p, p.at(s.root)
	}
	port, ok := env.number("MASTER_PORT")
	if !ok || port < 1 || port > lastPort {
		return nil, fmt.Errorf("MASTER_PORT=%q: want a port from 1 to %d", env("MASTER_PORT"), lastPort)
	}
	p.host, p.ports = env("MASTER_ADDR"), portsFrom(port, morePorts)
	if env("TORCHELASTIC_USE_AGENT_STORE") == "True" { // the agent itself listens at the first
		p.ports = p.ports[1:]
	}
	return p, nil
}
