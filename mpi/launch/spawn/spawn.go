// Package spawn starts the ranks of a job on this host and is their launcher: it speaks PMI with
// them, ends all of them when one fails, and says which one that was. cmd/mx_run is its front.
package spawn

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"gomx/mpi/launch"
	"gomx/mpi/launch/internal/pmi"
	"gomx/mpi/launch/internal/process"
)

// Plan says what to start.
type Plan struct {
	Ranks   int      // at least 1
	Program []string // a program as exec.LookPath finds it, and its arguments
	Env     []string // nil: that of this process
	Bind    bool     // each rank gets a core of its own, one after the other and then from the start

	// Stdin is what rank 0 reads; the others read nothing. nil: nothing for it, either.
	Stdin io.Reader
	// Stdout and Stderr return the writer that the output of a rank goes to, one of its own for each call. A writer that is an
	// io.Closer is closed when the rank has ended. If a writer fails, the rank has failed. nil: the output goes to this process's.
	Stdout, Stderr func(rank int) io.Writer
	// Failed is called once, when the first rank has failed, before the others are ended. nil: nobody
	// is told.
	Failed func(f *Failure, others int)
	// Signals pass signals on that this process gets, from Signals of os/signal, once all ranks run. One that asks for the
	// end does not wait for that: it goes to those that run, and no further ones are started. A second one
	// kills. A terminal does not stop this process nor its ranks for reading or writing in the background: what is written
	// appears, and Stdin is read when the process is in the foreground.
	Signals bool
}

// Failure is why a job failed: the first rank that did.
type Failure struct {
	Rank, PID int
	Code      int    // of the job
	What      string // such as "exited with status 3"
}

// Error names the rank and what became of it.
func (f *Failure) Error() string {
	return fmt.Sprintf("rank %d (process %d) %s", f.Rank, f.PID, f.What)
}

// Codes of a job whose rank gave none.
const (
	codeNotFinalized = 1
	codeSignal       = 128 // and the number of the signal
)

// grace is the time that ranks have to end when they are asked to, drain that for output which
// descendants of an ended rank hold open, hindsight that for the cause of an abort to show, and inquest that for the end of
// a rank which another one misses. look is how often descendants are looked for. Two requests for the end within same are one.
const (
	grace     = 3 * time.Second
	drain     = time.Second
	hindsight = 250 * time.Millisecond
	inquest   = time.Second
	look      = 10 * time.Millisecond
	same      = 250 * time.Millisecond
)

// Run starts the ranks, and returns when all have ended: nil if they all did well, a *Failure if one
// did not, another error if they could not be started. The end of ctx is asked of all ranks, then
// forced, and is an error, too.
func Run(ctx context.Context, plan *Plan) error {
	j, err := newJob(plan)
	if err != nil {
		return err
	}
	signals := make(chan os.Signal, 16)
	if plan.Signals {
		defer process.IgnoreTerminal()()
		signal.Notify(signals, process.Signals()...)
		defer signal.Stop(signals)
	}
	running := make(chan struct{})
	defer j.passSignals(signals, running)()
	stop := context.AfterFunc(ctx, j.finish)
	defer stop()
	started := make(chan error)
	finished := make(chan struct{})
	go func() { // ranks end when this thread does
		runtime.LockOSThread()
		started <- j.startAll()
		<-finished
		runtime.UnlockOSThread()
	}()
	defer close(finished)
	if err := <-started; err != nil {
		j.mu.Lock()
		j.stopping = true // none of those that are killed has failed
		j.mu.Unlock()
		j.signal(process.Kill)
		j.ended.Wait()
		return err
	}
	close(running)
	if j.incomplete() {
		time.AfterFunc(grace, func() { j.signal(process.Kill) }) // they would wait for the others
	}
	j.ended.Wait()
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.failure != nil:
		return j.failure
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case j.unstarted > 0:
		return fmt.Errorf("a signal (%v) has come when %d of %d ranks had been started: the others were not", j.halted, plan.Ranks-j.unstarted, plan.Ranks)
	}
	return nil
}

// incomplete reports whether ranks were not started.
func (j *job) incomplete() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.unstarted > 0
}

// job is a plan that runs.
type job struct {
	plan   *Plan
	path   string
	env    []string
	server *pmi.Server
	ended  sync.WaitGroup

	mu        sync.Mutex
	ranks     []rank
	failure   *Failure
	stopping  bool
	halted    os.Signal // the first that asks for the end, or nil
	forced    bool      // a second one has come
	unstarted int       // ranks that were not started, as the job was at its end
}

type rank struct {
	cmd   *exec.Cmd
	alive bool // not waited for
	trail bool // it is, and has left descendants in its group

	judged chan struct{}   // closed when its end is no news any more
	abort  *Failure        // it has asked for the end
	missed <-chan struct{} // judged of the first rank that it misses; nil: none
}

func newJob(plan *Plan) (*job, error) {
	if plan.Ranks < 1 || len(plan.Program) == 0 {
		return nil, errors.New("spawn: a plan without ranks or program")
	}
	path, err := exec.LookPath(plan.Program[0])
	if err != nil {
		return nil, noProgram(plan.Program[0], err)
	}
	j := &job{plan: plan, path: path, ranks: make([]rank, plan.Ranks)}
	var unique [8]byte
	_, _ = rand.Read(unique[:]) // never fails
	j.server = pmi.NewServer(launch.StoreOfRun+hex.EncodeToString(unique[:]), plan.Ranks, pmi.Events{Abort: j.abort, Blame: j.blame, Stuck: j.stuck})
	env := plan.Env
	if env == nil {
		env = os.Environ()
	}
	j.env = environment(env)
	return j, nil
}

// noProgram is the error of exec.LookPath for a program, with what to do.
func noProgram(name string, err error) error {
	if look, ok := errors.AsType[*exec.Error](err); ok { // its text has the name again
		err = look.Err
	}
	if stat, ok := err.(*fs.PathError); ok {
		err = stat.Err
	}
	remedy := "check the name"
	switch {
	case errors.Is(err, exec.ErrNotFound):
		remedy = fmt.Sprintf("check the name, or write ./%s for a program in this folder", name)
	case errors.Is(err, fs.ErrNotExist):
		remedy = "check the path, or build the program first"
	case errors.Is(err, fs.ErrPermission):
		remedy = "name a program, which chmod +x makes of a file that is one"
	}
	return fmt.Errorf("%s: %w: %s", name, err, remedy)
}

// noStart is the error of the system for a program that is there and can't be started, with what to do.
func noStart(name string, err error) error {
	why := err
	if path, ok := errors.AsType[*fs.PathError](err); ok { // its text has the name in the words of the system
		why = path.Err
	}
	if remedy := process.Remedy(err); remedy != "" {
		return fmt.Errorf("%s: %w: %s", name, why, remedy)
	}
	return fmt.Errorf("%s: %w", name, why)
}

// rivals begin the names of variables by which other launchers say who a process is.
var rivals = []string{"PMI_", "PMI2_", "PMIX_", "HYDI_", "MX_RANK=", "MX_SIZE=", "MX_ROOT="}

// environment returns what all ranks have in common.
func environment(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(word string) bool {
		return slices.ContainsFunc(rivals, func(rival string) bool { return strings.HasPrefix(word, rival) })
	})
}

func (j *job) startAll() error {
	var cores []int
	if j.plan.Bind {
		var err error
		if cores, err = process.Cores(); err != nil {
			return err
		}
		defer func() { _ = process.Bind(cores) }()
	}
	for r := range j.plan.Ranks {
		if j.plan.Bind {
			if err := process.Bind([]int{cores[r%len(cores)]}); err != nil {
				return err
			}
		}
		if err := j.start(r); err != nil {
			return fmt.Errorf("starting rank %d: %w", r, err)
		}
	}
	return nil
}

func (j *job) start(r int) error {
	ours, theirs, err := process.Pair()
	if err != nil {
		return err
	}
	defer theirs.Close()
	cmd := &exec.Cmd{Path: j.path, Args: j.plan.Program, ExtraFiles: []*os.File{theirs}, WaitDelay: drain}
	cmd.SysProcAttr = process.Attributes()
	cmd.Env = append(slices.Clip(j.env), "PMI_FD=3", fmt.Sprint("PMI_RANK=", r), fmt.Sprint("PMI_SIZE=", j.plan.Ranks),
		fmt.Sprint("MPI_LOCALRANKID=", r), fmt.Sprint("MPI_LOCALNRANKS=", j.plan.Ranks))
	cmd.Stdout, cmd.Stderr = outputOf(r, j.plan.Stdout, os.Stdout), outputOf(r, j.plan.Stderr, os.Stderr)
	var in io.WriteCloser
	if r == 0 && j.plan.Stdin != nil {
		if in, err = cmd.StdinPipe(); err != nil {
			return err
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.failure != nil || j.stopping || j.halted != nil { // those that run are asked to end, and this one would not be
		j.unstarted++
		_ = ours.Close()
		return nil
	}
	if err := cmd.Start(); err != nil {
		_ = ours.Close()
		return noStart(j.plan.Program[0], err)
	}
	judged := make(chan struct{})
	j.ranks[r] = rank{cmd: cmd, alive: true, judged: judged}
	if in != nil {
		go func() { // may stay in a read that nobody ends
			_, _ = io.Copy(in, inForeground{j.plan.Stdin})
			_ = in.Close()
		}()
	}
	served := make(chan error, 1)
	go func() {
		err := j.server.Serve(r, ours)
		if served <- err; err != nil {
			time.AfterFunc(hindsight, func() { j.unruly(r, err) })
		}
	}()
	j.ended.Go(func() {
		defer close(judged)
		j.wait(r, cmd, served)
	})
	return nil
}

// wait collects a rank, and ends the others if it did not do well.
func (j *job) wait(r int, cmd *exec.Cmd, served <-chan error) {
	err := cmd.Wait()
	lost := cmp.Or(failureOf(cmd.Stdout), failureOf(cmd.Stderr))
	for _, w := range []io.Writer{cmd.Stdout, cmd.Stderr} {
		if c, ok := w.(io.Closer); ok && w != os.Stdout && w != os.Stderr {
			err = cmp.Or(err, c.Close())
		}
	}
	j.mu.Lock()
	j.ranks[r].alive, j.ranks[r].trail = false, process.GroupLeft(cmd.Process.Pid)
	if j.ranks[r].trail {
		j.ended.Go(func() { j.clear(r, cmd.Process.Pid) })
	}
	j.mu.Unlock()
	// What it said last may not be read yet.
	var said error
	select {
	case said = <-served:
	case <-time.After(drain): // a descendant has the connection
		j.server.Hangup(r)
	}
	j.mu.Lock()
	f := j.ranks[r].abort
	j.mu.Unlock()
	if f != nil {
		time.Sleep(hindsight)
	} else {
		f = j.judge(r, cmd, lost, err, said)
	}
	if f != nil {
		j.failWithout(f)
	}
}

// clear ends what a rank has left behind: that has some time to end by itself, and some more when it is asked to.
func (j *job) clear(r, pid int) {
	for _, step := range []struct {
		wait time.Duration
		then os.Signal
	}{{drain, process.Terminate}, {grace, process.Kill}} {
		for limit := time.Now().Add(step.wait); time.Now().Before(limit); time.Sleep(look) {
			if !process.GroupLeft(pid) {
				j.mu.Lock()
				j.ranks[r].trail = false
				j.mu.Unlock()
				return
			}
		}
		process.SignalGroup(pid, step.then)
	}
}

// judge returns what was wrong with a rank that has ended, or nil. If its output was lost while it ran, that comes first: the
// rank may have ended because of that, such as by SIGPIPE.
func (j *job) judge(r int, cmd *exec.Cmd, lost, err, said error) *Failure {
	f := &Failure{Rank: r, PID: cmd.Process.Pid}
	state := cmd.ProcessState
	sig, killed := process.KilledBy(state)
	j.mu.Lock()
	forced := j.forced && sig == process.Kill
	j.mu.Unlock()
	switch {
	case lost != nil:
		f.Code, f.What = codeNotFinalized, notWritten+lost.Error()
	case forced:
		f.Code, f.What = codeSignal+int(sig), "was killed, as a second signal asked for the end"
	case killed:
		f.Code, f.What = codeSignal+int(sig), fmt.Sprintf("was killed by signal %d (%v)", sig, sig)
	case state.ExitCode() != 0:
		f.Code, f.What = state.ExitCode(), fmt.Sprintf("exited with status %d", state.ExitCode())
	case err != nil && !errors.Is(err, exec.ErrWaitDelay):
		f.Code, f.What = codeNotFinalized, notWritten+err.Error()
	case said != nil:
		return brokeRules(f, said)
	case j.server.Greeted(r) && !j.server.Finalized(r):
		f.Code, f.What = codeNotFinalized, "ended without Finalize"
	case !j.server.Greeted(r) && j.server.AnyGreeted():
		f.Code, f.What = codeNotFinalized, "ended without joining the others"
	default:
		return nil
	}
	return f
}

// brokeRules makes f the failure of a rank that has said what makes no sense.
func brokeRules(f *Failure, said error) *Failure {
	f.Code, f.What = codeNotFinalized, "broke the rules of PMI: "+said.Error()
	return f
}

// unruly ends the job for a rank that has broken the rules and lives on: it is heard no more. If it has ended, that is judged.
func (j *job) unruly(r int, said error) {
	j.mu.Lock()
	alive := j.ranks[r].alive
	j.mu.Unlock()
	if alive {
		j.failWithout(brokeRules(&Failure{Rank: r, PID: j.pid(r)}, said))
	}
}

// fail notes the first failure and ends the others.
func (j *job) fail(f *Failure) {
	j.mu.Lock()
	if j.failure != nil || j.stopping {
		j.mu.Unlock()
		return
	}
	j.failure = f
	others := 0
	for i := range j.ranks {
		if j.ranks[i].alive && i != f.Rank {
			others++
		}
	}
	j.mu.Unlock()
	if j.plan.Failed != nil {
		j.plan.Failed(f, others)
	}
	j.finish()
}

// abort is what the server calls when a rank asks for the end. If it does so because another has died,
// that one's exit, which comes about now, says more.
func (j *job) abort(r, code int, reason string) {
	what := fmt.Sprintf("aborted the job with code %d", code)
	if reason != "" {
		what += ": " + reason
	}
	f := &Failure{Rank: r, PID: j.pid(r), Code: cmp.Or(code&0xff, codeNotFinalized), What: what}
	j.mu.Lock()
	j.ranks[r].abort = f
	j.mu.Unlock()
	time.AfterFunc(hindsight, func() { j.failWithout(f) })
}

// blame is what the server calls when a rank misses another one.
func (j *job) blame(r, gone int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.ranks[r].missed == nil {
		j.ranks[r].missed = j.ranks[gone].judged
	}
}

// failWithout is fail for a rank that may have failed only because it misses another one, which then comes first.
func (j *job) failWithout(f *Failure) {
	j.mu.Lock()
	missed := j.ranks[f.Rank].missed
	j.mu.Unlock()
	if missed != nil {
		select {
		case <-missed:
		case <-time.After(inquest):
		}
	}
	j.fail(f)
}

// stuck is what the server calls when a rank waits for another in vain. If that one has failed, its
// exit says more.
func (j *job) stuck(waits, gone int) {
	j.mu.Lock()
	judged := j.ranks[gone].judged
	j.mu.Unlock()
	go func() {
		<-judged
		what := fmt.Sprintf("ended before its time: rank %d waits for it", waits)
		j.fail(&Failure{Rank: gone, PID: j.pid(gone), Code: codeNotFinalized, What: what})
	}()
}

func (j *job) pid(r int) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.ranks[r].cmd.Process.Pid
}

// finish asks all ranks to end, and kills those that don't.
func (j *job) finish() {
	j.mu.Lock()
	again := j.stopping
	j.stopping = true
	j.mu.Unlock()
	if again {
		return
	}
	j.signal(process.Terminate)
	time.AfterFunc(grace, func() { j.signal(process.Kill) })
}

// signal sends a signal to all ranks that are left.
func (j *job) signal(s os.Signal) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range j.ranks {
		if j.ranks[i].alive || j.ranks[i].trail {
			process.SignalGroup(j.ranks[i].cmd.Process.Pid, s)
		}
	}
}

// passSignals passes signals on until its result is called. Those that don't ask for the end wait until all ranks run.
func (j *job) passSignals(signals <-chan os.Signal, running <-chan struct{}) (stop func()) {
	done := make(chan struct{})
	go func() {
		var held []os.Signal
		var asked time.Time // when the end was asked for first
		for {
			select {
			case <-running:
				for _, s := range held {
					j.pass(s)
				}
				held, running = nil, nil
			case s := <-signals:
				switch {
				case !process.Ends(s):
					if running != nil {
						held = append(held, s)
						continue
					}
				case asked.IsZero():
					asked = time.Now()
					j.mu.Lock()
					j.halted = s
					j.mu.Unlock()
				case time.Since(asked) < same:
					continue // timeout(1) sends one to its child and one to the group
				default:
					s = process.Kill
					j.mu.Lock()
					j.forced = true
					j.mu.Unlock()
				}
				j.pass(s)
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

// pass sends a signal to all ranks that are left, and stops this process with them.
func (j *job) pass(s os.Signal) {
	j.signal(s)
	if s == process.Stop {
		process.StopSelf()
	}
}
