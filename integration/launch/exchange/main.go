// Command exchange is what the tests of launchers start: each rank hands in a business card, checks those of all
// the others, and says so.
//
//	exchange                    exchange business cards, and leave
//	exchange -abort RANK        then that rank aborts the job with code 7
//	exchange -die RANK          then that rank ends without taking leave
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"gomx/mpi/launch"
)

// patience bounds each step.
const patience = time.Minute

func main() {
	abort := flag.Int("abort", -1, "")
	die := flag.Int("die", -1, "")
	code := flag.Int("code", 7, "")
	length := flag.Int("length", 100, "")
	flag.Parse()
	if err := run(*abort, *die, *code, *length); err != nil {
		if !errors.Is(err, launch.ErrSaidByRank0) {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
}

func run(abort, die, code, length int) error {
	j, err := launch.Find()
	if err != nil {
		return err
	}
	for n := range 2 {
		if err := swap(j, n, length); err != nil {
			return err
		}
	}
	fmt.Printf("rank %d of %d has all business cards, by %s, secret %t\n", j.Rank(), j.Size(), j.Launcher(), j.Secret() != nil)
	switch j.Rank() {
	case die:
		os.Exit(code)
	case abort:
		j.Abort(code, "the test says so")
		os.Exit(code)
	}
	if abort >= 0 || die >= 0 {
		return untilLost(j)
	}
	return j.Finalize()
}

// untilLost waits for the end that another rank brings about, or the launcher.
func untilLost(j *launch.Job) error {
	select {
	case <-j.Lost():
		return j.LostReason()
	case rank := <-j.Dead():
		return fmt.Errorf("rank %d is dead", rank)
	case <-time.After(patience):
		return errors.New("nothing happens")
	}
}

func businessCard(rank, n, length int) []byte {
	b := fmt.Appendf(nil, "business card %d of rank %d ", n, rank)
	for len(b) < length {
		b = append(b, byte(len(b)*(rank+1)))
	}
	return b
}

func swap(j *launch.Job, n, length int) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	all, err := j.Exchange(ctx, businessCard(j.Rank(), n, length))
	if err != nil {
		return err
	}
	for rank, got := range all {
		if string(got) != string(businessCard(rank, n, length)) {
			return fmt.Errorf("rank %d has a wrong business card of rank %d", j.Rank(), rank)
		}
	}
	return nil
}
