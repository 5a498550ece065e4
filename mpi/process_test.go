package mpi_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gomx/bench/stats"
	"gomx/internal/freeport"
	"gomx/internal/testlength"
	"gomx/mpi"
	"gomx/mpi/launch"
	"gomx/mx"
)

// programVariable names the program that the test binary is to be, as one rank of a job.
const programVariable = "MPI_TEST_PROGRAM"

// programs are what ranks that are processes run.
var programs = map[string]func(world *mpi.Comm) error{
	"ring":          ringOnce,
	"orphan":        func(world *mpi.Comm) error { return orphaned(world, func() { os.Exit(7) }) },
	"polled":        polledOrphan,
	"fails":         failsOnOne,
	"goes":          goesOnOne,
	"all abort":     allAbort,
	"one exits":     oneExits,
	"apart":         func(world *mpi.Comm) error { return world.Barrier() },
	"alone":         alone,
	"finalize":      finalizeAndMore,
	"aborts":        aborts,
	"unfinished":    unfinished,
	"killed":        killed,
	"rants":         rants,
	"large":         large,
	unstarted + "0": ringOnce,
	unstarted + "1": ringOnce,
	"copies":        copiesToTheDead,
	"partly":        ringOnce,
	"flat":          ringOnce,
	"panics":        panics,
	"spares":        spares,
	"trades":        trades,
	"orderly":       orderly,
	"puts large":    putsLarge,
	"suspended":     suspended,
	"labels":        showsLabels,
	"threads": func(*mpi.Comm) error {
		fmt.Println(runtime.GOMAXPROCS(0))
		return nil
	},
}

func TestMain(m *testing.M) {
	if name := os.Getenv(programVariable); name != "" {
		if strings.HasPrefix(name, misset) {
			initOnly(optionsOf(name))
		}
		mpi.Main(programs[name], optionsOf(name)...)
		os.Exit(0)
	}
	_ = flag.Set("test.parallel", "6") // unless the command line says otherwise: tests that run beside others wait most of the time
	os.Exit(m.Run())
}

// optionsOf returns the options of a program at this rank.
func optionsOf(program string) []mpi.Option {
	if program == "partly" && os.Getenv("MX_RANK") == "1" {
		return []mpi.Option{mpi.WithCheckedCollectives()}
	}
	if program == "apart" {
		return []mpi.Option{mpi.WithTransports(map[string]string{"0": "tcp", "1": "shm"}[os.Getenv("MX_RANK")])}
	}
	if program == "flat" && os.Getenv("MX_RANK") == "1" {
		return []mpi.Option{mpi.WithAlgorithms("bcast=flat")}
	}
	if failing, is := strings.CutPrefix(program, unstarted); is && os.Getenv("MX_RANK") == failing {
		return []mpi.Option{mpi.WithTransports("none")}
	}
	if failing, is := strings.CutPrefix(program, misset); is && os.Getenv("MX_RANK") == failing {
		return []mpi.Option{mpi.WithAlgorithms("barrier=none")}
	}
	return nil
}

// exit is how a rank ended.
type exit struct {
	code   int
	output string
}

// job starts the test binary as n ranks of a program, which meet at a port of rank 0, and waits
// for them.
func job(t *testing.T, program string, n int, environment ...string) []exit {
	t.Helper()
	root := freeport.Address(t)
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	exits := make([]exit, n)
	var all sync.WaitGroup
	for rank := range n {
		all.Go(func() {
			var out bytes.Buffer
			c := exec.CommandContext(ctx, os.Args[0])
			c.Env = append(os.Environ(), programVariable+"="+program, "MX_ROOT="+root,
				fmt.Sprintf("MX_RANK=%d", rank), fmt.Sprintf("MX_SIZE=%d", n))
			c.Env = append(c.Env, environment...)
			c.Stdout, c.Stderr = &out, &out
			_ = c.Run()
			exits[rank] = exit{c.ProcessState.ExitCode(), out.String()}
		})
	}
	all.Wait()
	if ctx.Err() != nil {
		t.Fatalf("%s on %d ranks does not end: %+v", program, n, exits)
	}
	return exits
}

func TestProcesses(t *testing.T) { jobs(t, "ring", 1, 2, 4) }

// jobs runs a program, which prints nothing, on so many ranks each, over the transports between processes.
func jobs(t *testing.T, program string, ranks ...int) {
	for _, n := range ranks {
		for _, transport := range []string{"shm", "tcp"} {
			t.Run(fmt.Sprintf("%s/%d", transport, n), func(t *testing.T) {
				skipWithout(t, transport)
				for rank, e := range job(t, program, n, "MX_TRANSPORT="+transport) {
					if e.code != 0 || e.output != "" {
						t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
					}
				}
			})
		}
	}
}

// TestProcessesCombineLongVectors: what ranks combine lies where other processes copy it from, call after call,
// whatever the algorithm.
func TestProcessesCombineLongVectors(t *testing.T) {
	testlength.Long(t)
	if testing.Short() {
		jobs(t, "large", 3)
		return
	}
	jobs(t, "large", 2, 3)
}

func large(world *mpi.Comm) error {
	for _, algorithm := range []string{"pairwise", "rabenseifner", "reduce-bcast", "automatic"} {
		if err := world.SetAlgorithm("allreduce", algorithm); err != nil {
			return err
		}
		for call, length := range []int{100_003, 400_000, 1_200_000, 50_000} {
			mine := make([]float64, length)
			for i := range mine {
				mine[i] = float64((world.Rank()+1)*(call+1) + i)
			}
			all, n := make([]float64, length), world.Size()
			err := mpi.Allreduce(world, mine, all, mpi.Sum)
			if err == nil {
				err = mpi.Allreduce(world, mine, mine, mpi.Sum) // in place
			}
			if err != nil {
				return err
			}
			for i := range all {
				want := float64(n*(n+1)/2*(call+1) + n*i)
				if all[i] != want || mine[i] != want {
					return fmt.Errorf("%s, %d elements: element %d is %v, and %v in place, not %v", algorithm, length, i, all[i], mine[i], want)
				}
			}
		}
	}
	return nil
}

// processors are those of a process before tests change them.
var processors = runtime.GOMAXPROCS(0)

// TestProcessesTakeTurns: where there are more ranks than cores each process has one processor, unless the
// environment says otherwise; else it has what it would have.
func TestProcessesTakeTurns(t *testing.T) {
	many := runtime.NumCPU() + 1
	for name, x := range map[string]struct {
		ranks       int
		environment []string
		want        string
	}{
		"alone":   {1, nil, strconv.Itoa(processors)},
		"crowded": {many, nil, "1"},
		"told":    {many, []string{"GOMAXPROCS=3"}, "3"},
	} {
		for rank, e := range job(t, "threads", x.ranks, x.environment...) {
			if got := strings.TrimSpace(e.output); e.code != 0 || got != x.want {
				t.Errorf("%s: rank %d: exit code %d, %s processors, not %s", name, rank, e.code, got, x.want)
			}
		}
	}
}

// TestProcessDies: a rank exits without Finalize, and the others' waits for it end with its name.
func TestProcessDies(t *testing.T) { diesAlone(t, "orphan") }

// diesAlone has rank 1 of three exit with 7, and the others end well.
func diesAlone(t *testing.T, program string) {
	t.Helper()
	for rank, e := range job(t, program, 3) {
		switch {
		case rank == 1 && e.code != 7:
			t.Errorf("rank 1: exit code %d, %s", e.code, e.output)
		case rank != 1 && (e.code != 0 || e.output != ""):
			t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
		}
	}
}

// orphaned has rank 1 end before its time. All others learn it.
func orphaned(world *mpi.Comm, die func()) error {
	buf := make([]int64, 1)
	if world.Rank() == 1 {
		for _, other := range []int{0, 2} {
			if err := mpi.Send(world, []int64{5}, other, 0); err != nil {
				return err
			}
		}
		die()
	}
	if _, err := mpi.Recv(world, buf, 1, 0); err != nil {
		return fmt.Errorf("what was sent before is lost: %w", err)
	}
	_, named := mpi.Recv(world, buf, 1, 1)
	_, anybody := mpi.Recv(world, buf, mpi.AnySource, 1)
	for _, err := range []error{named, anybody} {
		if err := wantError(err, mpi.ErrProcFailed, world.Rank()); err != nil {
			return err
		}
		if !strings.Contains(err.Error(), "rank 1 of the world") {
			return fmt.Errorf("%q does not name the dead", err)
		}
	}
	if _, err := mpi.Sendrecv(world, []int64{1}, 2-world.Rank(), 2, buf, 2-world.Rank(), 2); err != nil {
		return err
	}
	return part(world)
}

// TestProcessDiesBeforeItsBufferedMessages: who has sent them learns it of a later one.
func TestProcessDiesBeforeItsBufferedMessages(t *testing.T) { diesAlone(t, "copies") }

// copiesToTheDead has rank 1 end before it has received what rank 0 sent. Rank 0 goes on sending to rank 2, which gets
// just what was sent without an error.
func copiesToTheDead(world *mpi.Comm) error {
	one := make([]int64, 1)
	switch world.Rank() {
	case 0:
		if err := mpi.Bsend(world, make([]int64, 50_000), 1, 17); err != nil {
			return err
		}
		if err := mpi.Send(world, one, 1, 0); err != nil {
			return err
		}
		if _, err := mpi.Recv(world, one, 1, 1); !errors.Is(err, mpi.ErrProcFailed) {
			return fmt.Errorf("rank 1 lives: %w", err)
		}
		sent, reported := int64(0), error(nil)
		for ; reported == nil && sent < 1_000_000; sent++ {
			reported = mpi.Bsend(world, []int64{sent}, 2, 0)
		}
		if err := wantError(reported, mpi.ErrProcFailed, 0); err != nil {
			return err
		}
		for _, part := range []string{"earlier Bsend", "with rank 1", "tag 17", "rank 1 of the world"} {
			if !strings.Contains(reported.Error(), part) {
				return fmt.Errorf("%q does not name %q", reported, part)
			}
		}
		if err := mpi.Bsend(world, []int64{-sent}, 2, 0); err != nil {
			return err
		}
		if _, err := mpi.Recv(world, one, 2, 0); err != nil {
			return err
		}
	case 1:
		if _, err := mpi.Recv(world, one, 0, 0); err != nil {
			return err
		}
		os.Exit(7)
	case 2:
		for next := int64(0); ; next++ {
			if _, err := mpi.Recv(world, one, 0, 0); err != nil {
				return err
			}
			if one[0] == -next-1 {
				break
			}
			if one[0] != next {
				return fmt.Errorf("%d came after %d", one[0], next-1)
			}
		}
		if err := mpi.Send(world, one, 0, 0); err != nil {
			return err
		}
	}
	return part(world)
}

func TestProcessFails(t *testing.T) {
	exits := job(t, "fails", 3)
	if e := exits[2]; e.code != 1 || !strings.Contains(e.output, "rank 2 of 3: out of cheese") {
		t.Errorf("rank 2: exit code %d, %s", e.code, e.output)
	}
	for rank := range 2 {
		if want := fmt.Sprintf("mpi: rank %d: rank 2 aborted the job with code 1: out of cheese\n", rank); exits[rank].code != 1 || exits[rank].output != want {
			t.Errorf("rank %d: exit code %d, %q, want %q", rank, exits[rank].code, exits[rank].output, want)
		}
	}
}

// TestProcessEndsItsGoroutine: a rank whose function neither returns nor panics ends the job as one that fails.
func TestProcessEndsItsGoroutine(t *testing.T) {
	testlength.Long(t)
	amongOthers(t)
	exits := job(t, "goes", 3)
	if e := exits[2]; e.code != 1 || !strings.Contains(e.output, "rank 2 of 3: its goroutine was ended") {
		t.Errorf("rank 2: exit code %d, %s", e.code, e.output)
	}
	for rank := range 2 {
		if want := "rank 2 aborted the job with code 1: its goroutine was ended"; exits[rank].code != 1 || !strings.Contains(exits[rank].output, want) {
			t.Errorf("rank %d: exit code %d, %q, want %q", rank, exits[rank].code, exits[rank].output, want)
		}
	}
}

func goesOnOne(world *mpi.Comm) error {
	if world.Rank() == 2 {
		runtime.Goexit()
	}
	_, err := mpi.Recv(world, make([]byte, 1), mpi.AnySource, 0)
	return err
}

func failsOnOne(world *mpi.Comm) error {
	if world.Rank() == 2 {
		return fmt.Errorf("out of cheese")
	}
	_, err := mpi.Recv(world, make([]byte, 1), mpi.AnySource, 0)
	return err
}

func TestProcessAborts(t *testing.T) {
	for rank, e := range job(t, "aborts", 3) {
		if e.code != 42 || !strings.Contains(e.output, "code 42") || !strings.Contains(e.output, "enough") {
			t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
		}
	}
}

// TestLongReasons: an abort reaches all ranks however much is said with it, and whatever that does to a terminal.
func TestLongReasons(t *testing.T) {
	for rank, e := range job(t, "rants", 3) {
		raw := strings.ContainsFunc(e.output, func(r rune) bool { return r < ' ' && r != '\n' })
		if e.code != 43 || strings.Contains(e.output, mpi.ErrProcFailed.Error()) || len(e.output) > 2*launch.MaxReason || raw {
			t.Errorf("rank %d: exit code %d, %d bytes: %.200s", rank, e.code, len(e.output), e.output)
		}
	}
}

func rants(world *mpi.Comm) error {
	if err := world.Barrier(); err != nil {
		return err
	}
	if world.Rank() == 1 {
		world.Abort(43, strings.Repeat("enough\x1b[2J\r\x00", 20_000))
	}
	_, err := mpi.Recv(world, make([]byte, 1), world.Rank(), 0)
	return err
}

func aborts(world *mpi.Comm) error {
	if err := world.Barrier(); err != nil {
		return err
	}
	if world.Rank() == 1 {
		world.Abort(42, "enough")
	}
	_, err := mpi.Recv(world, make([]byte, 1), world.Rank(), 0)
	return err
}

func TestProcessFinalizes(t *testing.T) {
	for rank, e := range job(t, "finalize", 2) {
		if e.code != 0 || e.output != "" {
			t.Errorf("rank %d: exit code %d, %s", rank, e.code, e.output)
		}
	}
}

func finalizeAndMore(world *mpi.Comm) error {
	_, again := mpi.Init()
	if err := wantError(again, mpi.ErrInit, world.Rank()); err != nil {
		return err
	}
	if err := world.Finalize(); err != nil {
		return err
	}
	return wantError(world.Barrier(), mpi.ErrFinalized, world.Rank())
}

var restarts = flag.Int("mpi.restarts", 10, "jobs that end and begin again in TestRestarts")

// TestRestarts: a job that begins as soon as another one has ended, in whatever way, at the same place, is not kept waiting by what that one has left.
func TestRestarts(t *testing.T) {
	amongOthers(t)
	for _, transport := range []string{"shm", "tcp"} {
		t.Run(transport, func(t *testing.T) {
			amongOthers(t)
			skipWithout(t, transport)
			place := []string{"MX_TRANSPORT=" + transport, "MX_ROOT=" + freeport.Address(t), "MX_MEET_TIMEOUT=10s", "MX_CONNECT_TIMEOUT=1s"}
			took, times := []float64{}, *restarts
			if testing.Short() {
				times = min(times, 2)
			}
			for range times {
				job(t, "killed", 3, place...)
				began := time.Now()
				for rank, e := range job(t, "ring", 3, place...) {
					if e.code != 0 || e.output != "" {
						t.Fatalf("rank %d: exit code %d, %s", rank, e.code, e.output)
					}
				}
				took = append(took, time.Since(began).Seconds())
			}
			t.Logf("seconds of the jobs behind: %+v", stats.Summarize(took))
		})
	}
}

// killed has all ranks die when they have spoken to each other.
func killed(world *mpi.Comm) error {
	if err := ringOnce(world); err != nil {
		return err
	}
	p, err := os.FindProcess(os.Getpid())
	if err != nil {
		return err
	}
	return errors.Join(p.Kill(), world.Barrier())
}

// TestUnfinished: Finalize names what nobody has waited for and what can't come any more, and nothing else.
func TestUnfinished(t *testing.T) {
	unchecked(t)
	for rank, e := range job(t, "unfinished", 3) {
		says := []string{"Isend with rank 1 of the world, tag 5, of 800000 bytes", "Irecv with any rank, tag 6, of 80 bytes", ""}[rank]
		if rank == 2 {
			if e.code != 0 || e.output != "" {
				t.Errorf("rank 2 has left nothing: exit code %d, %q", e.code, e.output)
			}
			continue
		}
		if e.code != 0 || strings.Count(e.output, "\n") != 1 || !strings.Contains(e.output, says) || strings.Contains(e.output, "; ") {
			t.Errorf("rank %d: exit code %d, %q, want %q alone", rank, e.code, e.output, says)
		}
	}
}

// unfinished leaves requests to themselves: some come to an end all the same.
func unfinished(world *mpi.Comm) error {
	large := make([]int64, 100_000)
	switch world.Rank() {
	case 2:
		return nil
	case 0:
		_, never := mpi.Isend(world, large, 1, 5)
		_, taken := mpi.Isend(world, make([]int64, 100_000), 1, 7)
		_, small := mpi.Isend(world, large[:1], 1, 8)
		return errors.Join(never, taken, small)
	}
	_, never := mpi.Irecv(world, make([]int64, 10), mpi.AnySource, 6)
	_, taken := mpi.Recv(world, large, 0, 7)
	return errors.Join(never, taken)
}

// TestMisspelt: a job says once which variables it does not know.
func TestMisspelt(t *testing.T) {
	for rank, e := range job(t, "ring", 3, "MX_SPINN=0") {
		says := "MX_SPINN, which is not read: did you mean MX_SPIN?"
		if e.code != 0 || rank == 0 && strings.Count(e.output, says) != 1 || rank != 0 && e.output != "" {
			t.Errorf("rank %d: exit code %d, %q", rank, e.code, e.output)
		}
	}
	out, err := local("ring", "MX_LOCAL=3", "MX_FLAVOUR=mint")
	if err != nil || strings.Count(string(out), "MX_FLAVOUR") != 1 {
		t.Errorf("%v, %q", err, out)
	}
}

// TestLocalRanks: without a launcher a process may be several ranks.
func TestLocalRanks(t *testing.T) {
	out, err := local("ring", "MX_LOCAL=3")
	if err != nil || len(out) != 0 {
		t.Errorf("%v, %s", err, out)
	}
	for _, one := range []string{"MX_SINGLETON=1", "MX_SIZE=1"} { // a job of a single rank, as something has said
		if out, err = local("alone", "MX_LOCAL=3", "MX_RANK=0", one); err != nil || len(out) != 0 {
			t.Errorf("%s: %v, %s", one, err, out)
		}
	}
	for _, wrong := range []string{"many", "-1", "99999999999", "1e2"} {
		setting, want := fmt.Sprintf("MX_LOCAL=%q", wrong), fmt.Sprintf("want a number of ranks from 0 to %d", mx.MaxEndpoints-1)
		out, err = local("ring", "MX_LOCAL="+wrong)
		if err == nil || !strings.Contains(string(out), setting) || !strings.Contains(string(out), want) || strings.Contains(string(out), "strconv") {
			t.Errorf("%v, %s", err, out)
		}
	}
}

// alone is a program for a single rank.
func alone(world *mpi.Comm) error {
	if world.Size() != 1 {
		return fmt.Errorf("there are %d ranks", world.Size())
	}
	return nil
}

func local(program string, environment ...string) ([]byte, error) {
	c := exec.Command(os.Args[0])
	c.Env = append(append(os.Environ(), programVariable+"="+program), environment...)
	return c.CombinedOutput()
}

// ringOnce passes a few messages around.
func ringOnce(c *mpi.Comm) error {
	n := c.Size()
	next, before := (c.Rank()+1)%n, (c.Rank()+n-1)%n
	for tag, size := range sizes {
		in := make([]int32, size)
		q, err := mpi.Irecv(c, in, before, tag)
		if err != nil {
			return err
		}
		if err := mpi.Send(c, pattern(size, c.Rank()), next, tag); err != nil {
			return err
		}
		st, err := q.Wait()
		if err != nil {
			return err
		}
		if st.Source != before || st.Tag != tag || st.Count != size || st.Bytes != 4*size {
			return fmt.Errorf("status %+v", st)
		}
		if err := same(in, pattern(size, before)); err != nil {
			return fmt.Errorf("%d elements: %w", size, err)
		}
	}
	return nil
}

// TestTransportsThatReachNobody: ranks whose transports lead to no other rank say so when they start, and what to do.
func TestTransportsThatReachNobody(t *testing.T) {
	testlength.Long(t)
	amongOthers(t)
	for _, transport := range []string{"self", "mem", "mem,self"} {
		for rank, e := range job(t, "ring", 2, "MX_TRANSPORT="+transport) {
			if e.code != 1 || !strings.Contains(e.output, "MX_TRANSPORT") || !strings.Contains(e.output, "reaches another rank") {
				t.Errorf("%s: rank %d: exit code %d, %s", transport, rank, e.code, e.output)
			}
		}
		for rank, e := range job(t, "ring", 1, "MX_TRANSPORT="+transport) {
			if e.code != 0 || e.output != "" {
				t.Errorf("%s: rank %d alone: exit code %d, %s", transport, rank, e.code, e.output)
			}
		}
	}
	err := run(t, 2, func(*mpi.Comm) error { return nil }, mpi.WithTransports("self"))
	if err == nil || !strings.Contains(err.Error(), "reaches another rank") {
		t.Errorf("in one process: %v", err)
	}
}
