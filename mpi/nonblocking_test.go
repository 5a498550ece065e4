package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mpi"
)

// nonblocking are the collectives that return a request. Each is started with elements of its own at every rank, and
// returns what looks at the values once it is complete.
var nonblocking = map[string]func(c *mpi.Comm) (mpi.Request, func() error, error){
	"Ibarrier": func(c *mpi.Comm) (mpi.Request, func() error, error) {
		q, err := c.Ibarrier()
		return q, func() error { return nil }, err
	},
	"Ibcast": func(c *mpi.Comm) (mpi.Request, func() error, error) {
		root := c.Size() - 1
		buf := make([]int32, elements)
		if c.Rank() == root {
			copy(buf, pattern(elements, root))
		}
		q, err := mpi.Ibcast(c, buf, root)
		return q, wants("buf", buf, pattern(elements, root)), err
	},
	"Ireduce": func(c *mpi.Comm) (mpi.Request, func() error, error) {
		root, sum := c.Size()/2, make([]int32, elements)
		q, err := mpi.Ireduce(c, pattern(elements, c.Rank()), sum, mpi.Sum, root)
		if c.Rank() != root {
			return q, func() error { return nil }, err
		}
		return q, wants("sum", sum, sumOf(elements, 0, c.Size())), err
	},
	"Iallreduce": func(c *mpi.Comm) (mpi.Request, func() error, error) {
		sum := make([]int32, elements)
		q, err := mpi.Iallreduce(c, pattern(elements, c.Rank()), sum, mpi.Sum)
		return q, wants("sum", sum, sumOf(elements, 0, c.Size())), err
	},
	"IreduceScatter": func(c *mpi.Comm) (mpi.Request, func() error, error) {
		counts, _, total := unequal(c.Size())
		before := 0
		for rank := range c.Rank() {
			before += counts[rank]
		}
		part := make([]int32, counts[c.Rank()])
		q, err := mpi.IreduceScatter(c, pattern(total, c.Rank()), part, counts, mpi.Sum)
		return q, wants("part", part, sumOf(total, 0, c.Size())[before:][:len(part)]), err
	},
	"IreduceScatterBlock": func(c *mpi.Comm) (mpi.Request, func() error, error) {
		total, part := elements*c.Size(), make([]int32, elements)
		q, err := mpi.IreduceScatterBlock(c, pattern(total, c.Rank()), part, mpi.Sum)
		return q, wants("part", part, sumOf(total, 0, c.Size())[elements*c.Rank():][:elements]), err
	},
	"Iscan": func(c *mpi.Comm) (mpi.Request, func() error, error) {
		sum := make([]int32, elements)
		q, err := mpi.Iscan(c, pattern(elements, c.Rank()), sum, mpi.Sum)
		return q, wants("sum", sum, sumOf(elements, 0, c.Rank()+1)), err
	},
	"Iexscan": func(c *mpi.Comm) (mpi.Request, func() error, error) {
		sum := make([]int32, elements) // rank 0 gets nothing
		q, err := mpi.Iexscan(c, pattern(elements, c.Rank()), sum, mpi.Sum)
		return q, wants("sum", sum, sumOf(elements, 0, c.Rank())), err
	},
	"Igather": func(c *mpi.Comm) (mpi.Request, func() error, error) {
		root, all := c.Size()-1, make([]int32, elements*c.Size())
		q, err := mpi.Igather(c, pattern(elements, c.Rank()), all, root)
		if c.Rank() != root {
			return q, wants("all", all, make([]int32, len(all))), err
		}
		return q, wants("all", all, gathered(c.Size(), func(int) int { return elements })), err
	},
	"Igatherv": func(c *mpi.Comm) (mpi.Request, func() error, error) {
		counts, displs, total := unequal(c.Size())
		root, all := c.Size()-1, make([]int32, total)
		q, err := mpi.Igatherv(c, pattern(counts[c.Rank()], c.Rank()), all, counts, displs, root)
		if c.Rank() != root {
			return q, wants("all", all, make([]int32, total)), err
		}
		return q, wants("all", all, unequalParts(c.Size())), err
	},
	"Iscatter": func(c *mpi.Comm) (mpi.Request, func() error, error) {
		var all []int32
		root, part := c.Size()/2, make([]int32, elements)
		if c.Rank() == root {
			all = gathered(c.Size(), func(int) int { return elements })
		}
		q, err := mpi.Iscatter(c, all, part, root)
		return q, wants("part", part, pattern(elements, c.Rank())), err
	},
	"Iscatterv": func(c *mpi.Comm) (mpi.Request, func() error, error) {
		counts, displs, _ := unequal(c.Size())
		var all []int32
		root, part := c.Size()/2, make([]int32, counts[c.Rank()])
		if c.Rank() == root {
			all = unequalParts(c.Size())
		}
		q, err := mpi.Iscatterv(c, all, counts, displs, part, root)
		return q, wants("part", part, pattern(len(part), c.Rank())), err
	},
	"Iallgather": func(c *mpi.Comm) (mpi.Request, func() error, error) {
		all := make([]int32, elements*c.Size())
		q, err := mpi.Iallgather(c, pattern(elements, c.Rank()), all)
		return q, wants("all", all, gathered(c.Size(), func(int) int { return elements })), err
	},
	"Iallgatherv": func(c *mpi.Comm) (mpi.Request, func() error, error) {
		counts, displs, total := unequal(c.Size())
		all := make([]int32, total)
		q, err := mpi.Iallgatherv(c, pattern(counts[c.Rank()], c.Rank()), all, counts, displs)
		return q, wants("all", all, unequalParts(c.Size())), err
	},
	"Ialltoall": func(c *mpi.Comm) (mpi.Request, func() error, error) {
		var send, want []int32
		for rank := range c.Size() {
			send = append(send, pattern(elements, c.Rank()*100+rank)...)
			want = append(want, pattern(elements, rank*100+c.Rank())...)
		}
		recv := make([]int32, len(want))
		q, err := mpi.Ialltoall(c, send, recv)
		return q, wants("recv", recv, want), err
	},
	"Ialltoallv": func(c *mpi.Comm) (mpi.Request, func() error, error) {
		var send, want []int32
		var sendCounts, recvCounts []int
		for rank := range c.Size() {
			out, in := (c.Rank()+2*rank)%4, (rank+2*c.Rank())%4
			sendCounts, recvCounts = append(sendCounts, out), append(recvCounts, in)
			send = append(send, pattern(out, c.Rank()*100+rank)...)
			want = append(want, pattern(in, rank*100+c.Rank())...)
		}
		recv := make([]int32, len(want))
		q, err := mpi.Ialltoallv(c, send, sendCounts, nil, recv, recvCounts, nil)
		return q, wants("recv", recv, want), err
	},
}

// elements is how many a rank contributes. They don't go in one frame of any medium.
const elements = 3000

// unequal returns the counts of the ranks' parts, and where the parts lie: in the opposite order of the ranks.
func unequal(ranks int) (counts, displs []int, total int) {
	for rank := range ranks {
		counts = append(counts, rank*7%5*100)
	}
	displs = make([]int, ranks)
	for rank := ranks - 1; rank >= 0; rank-- {
		displs[rank] = total
		total += counts[rank]
	}
	return counts, displs, total
}

// unequalParts is a buffer with the parts of all ranks.
func unequalParts(ranks int) []int32 {
	counts, displs, total := unequal(ranks)
	all := make([]int32, total)
	for rank, count := range counts {
		copy(all[displs[rank]:], pattern(count, rank))
	}
	return all
}

// sumOf adds up the patterns of some ranks.
func sumOf(n, begin, end int) []int32 {
	sum := make([]int32, n)
	for rank := begin; rank < end; rank++ {
		for i, v := range pattern(n, rank) {
			sum[i] += v
		}
	}
	return sum
}

// wants returns what compares a buffer with what it should hold.
func wants(name string, got, want []int32) func() error {
	return func() error {
		if err := same(got, want); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	}
}

// completing are the ways to complete a request.
var completing = map[string]func(q *mpi.Request) error{
	"Wait":        func(q *mpi.Request) error { _, err := q.Wait(); return err },
	"WaitContext": completeByContext,
	"Test": func(q *mpi.Request) error {
		for {
			if _, done, err := q.Test(); done || err != nil {
				return err
			}
		}
	},
}

// completeByContext waits with a context that has ended, which leaves the request as it is unless it is complete, and then with one that
// does not end.
func completeByContext(q *mpi.Request) error {
	ended, end := context.WithCancel(context.Background())
	end()
	_, err := q.WaitContext(ended)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, context.Canceled) || errors.Is(err, mpi.ErrGivenUp) || q.Empty():
		return fmt.Errorf("a context that has ended: %w, empty %v", err, q.Empty())
	}
	lasting, end := context.WithCancel(context.Background())
	defer end()
	_, err = q.WaitContext(lasting)
	return err
}

// TestNonblockingCollectives: each one yields its values, however its request is completed.
func TestNonblockingCollectives(t *testing.T) {
	testlength.Long(t)
	for _, n := range []int{2, 3, 5} {
		over(t, n, func(c *mpi.Comm) error {
			for _, way := range slices.Sorted(maps.Keys(completing)) {
				for _, name := range slices.Sorted(maps.Keys(nonblocking)) {
					q, check, err := nonblocking[name](c)
					if err != nil {
						return err
					}
					if err := completing[way](&q); err != nil {
						return fmt.Errorf("%s, %s: %w", name, way, err)
					}
					if !q.Empty() {
						return fmt.Errorf("%s, %s: the request is not empty", name, way)
					}
					if err := check(); err != nil {
						return fmt.Errorf("%s, %s: %w", name, way, err)
					}
				}
			}
			return nil
		})
	}
}

// TestNonblockingCollectivesTogether has all under way at once, started in one order and completed in the opposite one.
func TestNonblockingCollectivesTogether(t *testing.T) {
	over(t, 3, func(c *mpi.Comm) error {
		var reqs []mpi.Request
		var checks []func() error
		for _, name := range slices.Sorted(maps.Keys(nonblocking)) {
			q, check, err := nonblocking[name](c)
			if err != nil {
				return err
			}
			reqs, checks = append(reqs, q), append(checks, check)
		}
		for i := len(reqs) - 1; i > len(reqs)/2; i-- {
			if _, err := reqs[i].Wait(); err != nil {
				return err
			}
		}
		if err := mpi.WaitAll(reqs, nil); err != nil {
			return err
		}
		for _, check := range checks {
			if err := check(); err != nil {
				return err
			}
		}
		return nil
	})
}

// testingLoops are the ways to test requests, of which one is not empty.
var testingLoops = map[string]func(reqs []mpi.Request) (bool, error){
	"Test":    func(reqs []mpi.Request) (bool, error) { _, done, err := reqs[1].Test(); return done, err },
	"TestAll": func(reqs []mpi.Request) (bool, error) { return mpi.TestAll(reqs, nil) },
	"TestAny": func(reqs []mpi.Request) (bool, error) { _, _, done, err := mpi.TestAny(reqs); return done, err },
	"TestSome": func(reqs []mpi.Request) (bool, error) {
		done, err := mpi.TestSome(reqs, nil)
		return len(done) != 0, err
	},
}

// TestTestingInLoops: collectives get on while more ranks than there are processors test them in loops. Who keeps others from it makes that
// last each time, and a busy machine now and then.
func TestTestingInLoops(t *testing.T) {
	const calls, tries, most = 100, 5, 5 * time.Second
	for name, test := range testingLoops {
		t.Run(name, func(t *testing.T) {
			for range tries {
				begin := time.Now()
				world(t, min(2*runtime.GOMAXPROCS(0), 16), func(c *mpi.Comm) error { return testedInLoops(c, calls, test) })
				if time.Since(begin) < most {
					return
				}
			}
			t.Errorf("%d collectives took more than %v, %d times", calls, most, tries)
		})
	}
}

// testedInLoops has a rank call so many collectives, one after the other, each of which it tests until it is complete.
func testedInLoops(c *mpi.Comm, calls int, test func(reqs []mpi.Request) (bool, error)) error {
	mine, sum := []int{c.Rank()}, []int{0}
	for range calls {
		q, err := mpi.Iallreduce(c, mine, sum, mpi.Sum)
		reqs := []mpi.Request{{}, q}
		for done := false; err == nil && !done; {
			done, err = test(reqs)
		}
		if err == nil {
			err = same(sum, []int{c.Size() * (c.Size() - 1) / 2})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// TestNonblockingCollectivesAreListed looks that the table above has all that the package exports: what begins with an I, returns a
// request, and is on a communicator without a tag.
func TestNonblockingCollectivesAreListed(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		if !strings.HasSuffix(file.Name(), ".go") || strings.HasSuffix(file.Name(), "_test.go") {
			continue
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), file.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !isNonblockingCollective(fn) {
				continue
			}
			found++
			if nonblocking[fn.Name.Name] == nil {
				t.Errorf("%s is not in the table", fn.Name.Name)
			}
		}
	}
	if found != len(nonblocking) {
		t.Errorf("%d nonblocking collectives are exported, %d are in the table", found, len(nonblocking))
	}
}

func isNonblockingCollective(fn *ast.FuncDecl) bool {
	results := fn.Type.Results
	if !strings.HasPrefix(fn.Name.Name, "I") || results == nil || len(results.List) != 2 {
		return false
	}
	if result, ok := results.List[0].Type.(*ast.Ident); !ok || result.Name != "Request" {
		return false
	}
	params := fn.Type.Params.List
	if fn.Recv != nil {
		params = append(fn.Recv.List, params...)
	}
	communicator := false
	for _, p := range params {
		for _, name := range p.Names {
			if name.Name == "tag" {
				return false
			}
			communicator = communicator || name.Name == "c"
		}
	}
	return communicator
}

// TestNonblockingInAJobThatEnds: the wait for a collective, and tests in a loop, end with the job, though nobody is left to tell the rank
// that the collective has ended.
func TestNonblockingInAJobThatEnds(t *testing.T) {
	broken := errors.New("enough")
	wait := func(q *mpi.Request) error {
		_, err := q.Wait()
		return err
	}
	const patience = 5 * time.Second
	test := func(q *mpi.Request) error {
		for late := time.Now().Add(patience); time.Now().Before(late); {
			if _, done, err := q.Test(); done || err != nil {
				return err
			}
		}
		return fmt.Errorf("still under way after %v; a wait: %v", patience, wait(q))
	}
	for name, end := range map[string]func(*mpi.Request) error{"wait": wait, "test": test} {
		for _, medium := range media {
			t.Run(name+"/"+medium, func(t *testing.T) {
				skipWithout(t, medium)
				started, ended := make(chan struct{}), make(chan error, 1)
				err := run(t, 2, func(c *mpi.Comm) error {
					if c.Rank() == 0 {
						<-started
						time.Sleep(5 * time.Millisecond) // while the other rank waits or tests
						return broken
					}
					q, err := c.Ibarrier()
					close(started)
					if err == nil {
						err = end(&q)
					}
					ended <- err
					return err
				}, mpi.WithTransports(medium))
				if waited := <-ended; !errors.Is(waited, mpi.ErrAborted) || !errors.Is(err, broken) {
					t.Errorf("the wait: %v, want class %q; the job: %v", waited, mpi.ErrAborted, err)
				}
			})
		}
	}
}
