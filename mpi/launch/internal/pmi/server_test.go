package pmi

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// serve starts a server and its clients.
func serve(t *testing.T, size int, events Events) (*Server, []*Client) {
	t.Helper()
	s := NewServer("test", size, events)
	clients := make([]*Client, size)
	for rank := range clients {
		near, far := pair(t)
		go func() { _ = s.Serve(rank, far) }()
		k, err := NewClient(t.Context(), near, Limits{Answer: patience, Barrier: patience})
		if err != nil {
			t.Fatal(err)
		}
		clients[rank] = k
	}
	return s, clients
}

func each(clients []*Client, do func(rank int, k *Client) error) error {
	errs := make(chan error, len(clients))
	for rank, k := range clients {
		go func() { errs <- do(rank, k) }()
	}
	var all []error
	for range clients {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}

func TestServer(t *testing.T) {
	s, clients := serve(t, 5, Events{})
	ctx := t.Context()
	err := each(clients, func(rank int, k *Client) error {
		for round := range 20 {
			name := func(rank int) string { return fmt.Sprintf("k%d-%d", round, rank) }
			if err := errors.Join(k.Put(ctx, name(rank), fmt.Sprint("value", rank)), k.Barrier(ctx)); err != nil {
				return err
			}
			next := (rank + 1) % len(clients)
			if v, err := k.Get(ctx, name(next)); err != nil || v != fmt.Sprint("value", next) {
				return fmt.Errorf("rank %d gets %q, %w", rank, v, err)
			}
		}
		if err := k.Put(ctx, "k0-0", "again"); err == nil {
			return errors.New("a key was put twice")
		}
		return k.Finalize(ctx)
	})
	if err != nil {
		t.Fatal(err)
	}
	for rank := range clients {
		if !s.Greeted(rank) || !s.Finalized(rank) {
			t.Errorf("rank %d: greeted %t, finalized %t", rank, s.Greeted(rank), s.Finalized(rank))
		}
	}
}

func TestServerHearsOfBlame(t *testing.T) {
	heard := make(chan string, 2)
	_, clients := serve(t, 3, Events{Blame: func(rank, gone int) { heard <- fmt.Sprint(rank, " misses ", gone) }})
	clients[1].Blame(2)
	if got := <-heard; got != "1 misses 2" {
		t.Errorf("the server hears %q", got)
	}
	if err := clients[1].Finalize(t.Context()); err != nil {
		t.Error(err)
	}
	clients[0].Blame(3) // there is none
	<-clients[0].Gone()
}

func TestServerHearsOfAborts(t *testing.T) {
	heard := make(chan string, 1)
	_, clients := serve(t, 2, Events{Abort: func(rank, code int, reason string) { heard <- fmt.Sprint(rank, code, reason) }})
	clients[1].Abort(9, "out of patience")
	if got := <-heard; got != "1 9 out of patience" && got != "1 9out of patience" {
		t.Errorf("the server hears %q", got)
	}
}

func TestServerHearsOfVainWaiting(t *testing.T) {
	for _, first := range []string{"the wait", "the end"} {
		stuck := make(chan [2]int, 1)
		_, clients := serve(t, 3, Events{Stuck: func(waits, gone int) { stuck <- [2]int{waits, gone} }})
		if first == "the end" {
			clients[2].Close()
		}
		waited := make(chan error, 1)
		go func() { waited <- clients[0].Barrier(t.Context()) }()
		if first == "the wait" {
			clients[2].Close()
		}
		if got := <-stuck; got != [2]int{0, 2} {
			t.Errorf("rank %d waits for rank %d", got[0], got[1])
		}
		clients[0].Close()
		if <-waited == nil {
			t.Error("the barrier has an end")
		}
	}
}

// TestServerOfARankThatHearsNothing: a rank that ends before it has read its answers has broken no rule.
func TestServerOfARankThatHearsNothing(t *testing.T) {
	near, far := pair(t)
	if _, err := io.WriteString(near, strings.Repeat("cmd=get_maxes\n", 50)); err != nil {
		t.Fatal(err)
	}
	near.Close()
	if err := NewServer("test", 1, Events{}).Serve(0, far); err != nil {
		t.Error(err)
	}
}

// TestServerRefusesNonsense says things that no rank should say.
func TestServerRefusesNonsense(t *testing.T) {
	for _, said := range []string{"nonsense\n", "cmd=spawn nprocs=2\n", "cmd=barrier_in\ncmd=barrier_in\n", "\n", "cmd=finalize\ncmd=get_maxes\n",
		strings.Repeat("x", 2*longestAnswer)} {
		near, far := pair(t)
		ended := make(chan error, 1)
		s := NewServer("test", 2, Events{})
		go func() { ended <- s.Serve(0, far) }()
		go func() { _, _ = io.WriteString(near, said) }()
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "rank 0") {
			t.Errorf("%.30q: %v", said, err)
		}
	}
	near, far := pair(t)
	s := NewServer("test", 1, Events{})
	go func() { _ = s.Serve(0, far) }()
	in := bufio.NewReader(near)
	for _, c := range [][2]string{
		{"cmd=init pmi_version=2 pmi_subversion=0", "rc=-1"}, {"cmd=init pmi_version=1 pmi_subversion=1", "rc=0"},
		{"cmd=get kvsname=other key=a", "rc=-1"}, {"cmd=put kvsname=other key=a value=b", "rc=-1"},
		{"cmd=put kvsname=test key=" + strings.Repeat("k", maxKey+1) + " value=b", "rc=-1"},
		{"cmd=get kvsname=test key=PMI_process_mapping", "value=(vector,(0,1,1))"},
		{"cmd=get_universe_size", "size=1"}, {"cmd=get_appnum", "appnum=0"}, {"cmd=barrier_in", "barrier_out"},
	} {
		if _, err := io.WriteString(near, c[0]+"\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := in.ReadString('\n')
		if err != nil || !strings.Contains(answer, c[1]) {
			t.Errorf("%s: %q, %v, want %s", c[0], answer, err, c[1])
		}
	}
}
