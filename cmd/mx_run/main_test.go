package main

import (
	"context"
	"errors"
	"fmt"

	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"gomx/cmd/internal/tooltest"
	"gomx/mpi/launch"
)

// roleKey names the variable that makes this test a rank, and says what it does.
const roleKey = "MX_RUN_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleKey); role != "" && !tooltest.Is("mx_run") {
		os.Exit(beRank(role))
	}
	os.Exit(tooltest.Main(m, "mx_run", main))
}

// patience bounds a step of a rank.
const patience = time.Minute

// beRank joins the job, exchanges business cards, and then does what the role says.
func beRank(role string) int {
	verb, number, _ := strings.Cut(role, " ")
	who, _ := strconv.Atoi(number)
	rank, _ := strconv.Atoi(os.Getenv("PMI_RANK"))
	switch {
	case verb == "absent" && rank == who:
		return 0
	case verb == "early" && rank == who:
		return 3
	}
	j, err := launch.Find()
	if err == nil {
		err = exchange(j)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	fmt.Printf("rank %d of %d\n", j.Rank(), j.Size())
	switch {
	case verb == "secret":
		fmt.Printf("secret %x\n", j.Secret())
		return status(j.Finalize())
	case verb == "leave":
		return status(j.Finalize())
	case verb == "stay":
		return stay(j)
	case verb == "deaf":
		return deaf()
	case j.Rank() != who:
		<-j.Lost() // or the signal of mx_run
		return 8
	case verb == "fail":
		return 5
	case verb == "vanish":
		return 0
	case verb == "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case verb == "abort":
		j.Abort(6, "no more of this")
		<-j.Lost()
	}
	return 9
}

// deaf says which signals come, and goes on.
func deaf() int {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGHUP)
	fmt.Println("ready")
	for s := range signals {
		fmt.Println("got", s)
	}
	return 9
}

func status(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 9
	}
	return 0
}

// stay waits for a signal.
func stay(j *launch.Job) int {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1, syscall.SIGTERM, syscall.SIGALRM, syscall.SIGWINCH, syscall.SIGIO, realTime)
	fmt.Println("ready")
	select {
	case s := <-c:
		fmt.Println("got", s)
		return status(j.Finalize())
	case <-j.Lost():
	case <-time.After(patience):
	}
	return 9
}

func exchange(j *launch.Job) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	all, err := j.Exchange(ctx, []byte(strconv.Itoa(j.Rank())))
	if err != nil {
		return err
	}
	for rank, businessCard := range all {
		if string(businessCard) != strconv.Itoa(rank) {
			return errors.New("a wrong business card")
		}
	}
	if len(j.Secret()) == 0 || j.Launcher() != "mx_run" {
		return fmt.Errorf("secret %q, launcher %s", j.Secret(), j.Launcher())
	}
	return nil
}
