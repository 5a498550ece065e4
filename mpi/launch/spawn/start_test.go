package spawn

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gomx/mpi/launch/internal/process"
)

// TestRankThatCannotBeStarted: what could not be started is the error, and no rank that is killed because of that.
func TestRankThatCannotBeStarted(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nrm \"$0\"; exec sleep 100\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := Run(t.Context(), &Plan{
		Ranks:   2,
		Program: []string{program},
		Stdout: func(rank int) io.Writer {
			for rank == 1 { // until it is not there any more
				if _, err := os.Stat(program); err != nil {
					break
				}
				time.Sleep(time.Millisecond)
			}
			return io.Discard
		},
		Failed: func(f *Failure, _ int) { t.Errorf("accused: %v", f) },
	})
	if _, ok := errors.AsType[*Failure](err); ok || err == nil || !strings.Contains(err.Error(), "starting rank 1: ") {
		t.Errorf("error %v", err)
	}
}

// TestFailureWhileStarting: once a rank has failed, those that have not been started yet are not: nobody would end them.
func TestFailureWhileStarting(t *testing.T) {
	failed := make(chan struct{})
	var late bytes.Buffer
	err := Run(t.Context(), &Plan{
		Ranks:   2,
		Program: []string{"sh", "-c", "echo rank $PMI_RANK runs; exit 3"},
		Stdout: func(rank int) io.Writer {
			if rank == 0 {
				return io.Discard
			}
			<-failed
			return &late
		},
		Failed: func(*Failure, int) { close(failed) },
	})
	if f, ok := errors.AsType[*Failure](err); !ok || f.Rank != 0 || f.Code != 3 || late.Len() != 0 {
		t.Errorf("error %v, want that of rank 0; then %q", err, late.String())
	}
}

// TestSignalWhileStarting: one that asks for the end goes to the ranks that run at once, and no further ones are started, also if
// those that run heed it and did well, or heed it not.
func TestSignalWhileStarting(t *testing.T) {
	for heeds, want := range map[string]string{
		"":                                  "rank 0",
		"trap 'exit 0' TERM; ":              "has come when 1 of 3 ranks had been started: the others were not",
		"trap '' TERM; echo $$ >/dev/null;": "rank 0",
	} {
		var late bytes.Buffer
		began := time.Now()
		ready, told := filepath.Join(t.TempDir(), "ready"), false
		err := Run(t.Context(), &Plan{
			Ranks: 3, Signals: true,
			Program: []string{"sh", "-c", heeds + "echo rank $PMI_RANK runs; >" + ready + "; while :; do sleep 0.01; done"},
			Stderr:  func(int) io.Writer { return io.Discard },
			Stdout: func(rank int) io.Writer {
				if rank == 0 {
					return io.Discard
				}
				for !told { // rank 0 runs
					if _, err := os.Stat(ready); err == nil {
						told = true
						self, _ := os.FindProcess(os.Getpid())
						if err := self.Signal(process.Terminate); err != nil {
							t.Error(err)
						}
						time.Sleep(100 * time.Millisecond) // it is delivered
					}
					time.Sleep(time.Millisecond)
				}
				return &late
			},
		})
		if err == nil || !strings.Contains(err.Error(), want) || late.Len() != 0 {
			t.Errorf("%q: error %v, want %q; then %q", heeds, err, want, late.String())
		}
		if took := time.Since(began); took > 50*time.Second {
			t.Errorf("%q: it took %v", heeds, took)
		}
	}
}

// TestRankBreaksTheRules: what a living rank says that makes no sense ends the job, and so does an abort whose reason has blanks in it, as
// MPICH sends it. Nobody waits for that rank to end.
func TestRankBreaksTheRules(t *testing.T) {
	for said, want := range map[string]Failure{
		"cmd=nonsense": {Rank: 1, Code: codeNotFinalized, What: `broke the rules of PMI: rank 1: it says "cmd=nonsense", which this launcher does not know`},
		"cmd=abort exitcode=77 message=application called MPI_Abort(MPI_COMM_WORLD, 77) - process 1": {
			Rank: 1, Code: 77, What: "aborted the job with code 77: application called MPI_Abort(MPI_COMM_WORLD, 77) - process 1"},
	} {
		began := time.Now()
		err := Run(t.Context(), &Plan{
			Ranks:   2,
			Program: []string{"sh", "-c", `[ $PMI_RANK = 1 ] && echo "` + said + `" >&3; exec sleep 100`},
			Stdout:  func(int) io.Writer { return io.Discard },
			Stderr:  func(int) io.Writer { return io.Discard },
		})
		f, ok := errors.AsType[*Failure](err)
		if !ok || f.Rank != want.Rank || f.Code != want.Code || f.What != want.What {
			t.Errorf("%s: %v", said, err)
		}
		if took := time.Since(began); took > 50*time.Second {
			t.Errorf("%s: the job goes on for %v", said, took)
		}
	}
}
