//go:build linux

package launch_test

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gomx/integration/internal/proc"
	"gomx/internal/freeport"
)

// slurm is a Slurm of one node, with ports and folders of its own, that ends with the test.
type slurm struct {
	t    *testing.T
	dir  string
	conf string
}

const slurmPackages = "slurmctld slurmd slurm-client munge"

// configuration of a node whose ranks share two cores and more.
const configuration = `ClusterName=gomx
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[3]d
SlurmdPort=%[4]d
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=%[2]s/munge/socket
CredType=cred/munge
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmdPidFile=%[2]s/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=2
MpiDefault=pmi2
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=8
PartitionName=main Nodes=ALL Default=YES State=UP
`

// startSlurm starts the daemons, and waits until the node is ready.
func startSlurm(t *testing.T) *slurm {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("this user is not root, and a Slurm of its own needs that")
	}
	munged, slurmctld, slurmd := need(t, "munged", "munge"), need(t, "slurmctld", slurmPackages), need(t, "slurmd", slurmPackages)
	need(t, "srun", slurmPackages)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	s := &slurm{t: t, dir: t.TempDir()}
	s.conf = s.write("slurm.conf", fmt.Appendf(nil, configuration, host, s.dir, freeport.Take(t), freeport.Take(t)))
	key := make([]byte, 128)
	_, _ = rand.Read(key) // never fails
	keyFile := s.write("munge.key", key)
	for _, folder := range []string{"munge", "state", "spool"} {
		if err := os.Mkdir(filepath.Join(s.dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	in := filepath.Join(s.dir, "munge")
	s.daemon(munged, "--foreground", "--force", "--key-file="+keyFile, "--socket="+in+"/socket", "--pid-file="+in+"/pid",
		"--log-file="+in+"/log", "--seed-file="+in+"/seed")
	s.until("munged answers", anything, "munge", "--socket="+in+"/socket", "--no-input")
	s.daemon(slurmctld, "-D", "-f", s.conf)
	s.daemon(slurmd, "-D", "-f", s.conf)
	t.Cleanup(s.endJobs)
	s.until("the node is idle", anything, "sinfo", "--noheader", "--states=idle", "--format=%T")
	return s
}

func (s *slurm) write(name string, text []byte) string {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// daemon starts a program that ends with the test, and keeps what it says in a file.
func (s *slurm) daemon(path string, args ...string) {
	s.t.Helper()
	log := filepath.Join(s.dir, filepath.Base(path)+".out")
	under := script(s.t, `exec "$@" >`+log+` 2>&1`)
	proc.StartProgram(s.t, proc.Options{Env: s.env(), Life: 2 * life}, append([]string{under, path}, args...)...)
	s.t.Cleanup(func() {
		if text, err := os.ReadFile(log); err == nil && s.t.Failed() {
			s.t.Logf("%s says:\n%s", path, text)
		}
	})
}

func (s *slurm) env() []string { return []string{"SLURM_CONF=" + s.conf} }

// until repeats a command until it works and prints something that is welcome, and returns that.
func (s *slurm) until(what string, welcome func(out string) bool, name string, args ...string) string {
	s.t.Helper()
	limit := time.NewTimer(proc.Patience)
	defer limit.Stop()
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for {
		cmd := exec.Command(name, args...)
		cmd.Env = append(os.Environ(), s.env()...)
		out, err := cmd.CombinedOutput()
		if err == nil && welcome(string(out)) {
			return string(out)
		}
		select {
		case <-again.C:
		case <-limit.C:
			s.t.Fatalf("waiting until %s: %s: %v: %s", what, name, err, out)
		}
	}
}

func anything(out string) bool { return out != "" }

// endJobs ends what the test has left, before the daemons go.
func (s *slurm) endJobs() {
	for _, args := range [][]string{{"scancel", "--full", "--user=root"}, {"scontrol", "shutdown"}} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), s.env()...)
		if out, err := cmd.CombinedOutput(); err != nil {
			s.t.Logf("%v: %v: %s", args, err, out)
		}
	}
}

func (s *slurm) run(command ...string) outcome {
	s.t.Helper()
	return ran(proc.StartProgram(s.t, options(s.env()...), command...))
}

// batch submits a script, and returns what it has printed when it has ended.
func (s *slurm) batch(args ...string) (o outcome) {
	s.t.Helper()
	log := filepath.Join(s.dir, "batch.out")
	o = s.run(append([]string{"sbatch", "--parsable", "--output=" + log, "--open-mode=truncate"}, args...)...)
	if o.status != 0 || len(o.lines) == 0 {
		s.t.Fatalf("sbatch: %v", o)
	}
	ended := func(out string) bool {
		return strings.Contains(out, " EndTime=") && !slices.ContainsFunc(busy, func(state string) bool { return strings.Contains(out, state) })
	}
	told := s.until("the job has ended", ended, "scontrol", "--oneliner", "show", "job", o.lines[0])
	_, code, _ := strings.Cut(told, " ExitCode=")
	if _, err := fmt.Sscanf(code, "%d:", &o.status); err != nil {
		s.t.Fatalf("%s: %v", told, err)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		s.t.Fatal(told, err)
	}
	o.lines = strings.Split(strings.TrimSpace(string(text)), "\n")
	return o
}

// busy are the states of jobs that have not ended.
var busy = []string{"JobState=PENDING", "JobState=CONFIGURING", "JobState=RUNNING", "JobState=COMPLETING"}

// bySlurm starts ranks by srun, with PMI and without.
func bySlurm(t *testing.T, bin string) {
	s := startSlurm(t)
	program := filepath.Join(bin, exchange)
	for mpi, secret := range map[string]bool{"pmi2": true, "none": false} {
		t.Run(mpi, func(t *testing.T) {
			srun := []string{"srun", "--mpi=" + mpi, "--kill-on-bad-exit=1"}
			wantExchange(t, s.run(append(srun, "-n", "1", program)...), 1, "Slurm", secret)
			wantExchange(t, s.run(append(srun, "-n", "2", program)...), 2, "Slurm", secret)
			wantExchange(t, s.run(append(srun, "-n", "8", program, "-length", "20000")...), 8, "Slurm", secret)
			wantResults(t, func(program string, args ...string) outcome {
				return s.run(append(append(srun, "-n", "4", filepath.Join(bin, program)), args...)...)
			})
			if o := s.run(append(srun, "-n", "2", program, "-abort", "1")...); o.status == 0 {
				t.Errorf("an abort: %v\nwant a failure", o)
			}
			if o := s.run(append(srun, "-n", "2", program, "-die", "0")...); o.status == 0 {
				t.Errorf("a failed rank: %v\nwant a failure", o)
			}
		})
	}
	t.Run("closed descriptor", func(t *testing.T) { // the step's variables are another way
		wantExchange(t, s.run("srun", "--mpi=pmi2", "-n", "2", withoutDescriptor(t), program), 2, "Slurm", false)
	})
	t.Run("docs/cluster/ranks.sbatch", func(t *testing.T) {
		wantExchange(t, s.batch("--nodes=1", filepath.Join("..", "..", "docs", "cluster", "ranks.sbatch"), program), 4, "Slurm", true)
	})
	t.Run("without srun", func(t *testing.T) {
		forgetful := script(t, program)
		if o := s.batch("-n", "2", forgetful); o.status == 0 || !o.has("srun --mpi=pmi2 -n 2") {
			t.Errorf("%v\nwant advice", o)
		}
		wantExchange(t, s.batch("-n", "1", forgetful), 1, "itself", false)
	})
	t.Run("other launchers inside", func(t *testing.T) {
		wantExchange(t, s.batch("-n", "2", script(t, filepath.Join(bin, "mx_run")+" -n 3 "+program)), 3, "mx_run", true)
		hydra := script(t, need(t, "mpiexec.hydra", "mpich")+" -launcher fork -n 3 "+program)
		wantExchange(t, s.batch("-n", "2", hydra), 3, "Hydra", true)
	})
}
