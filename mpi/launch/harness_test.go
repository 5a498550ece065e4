package launch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gomx/internal/freeport"
	"gomx/mpi/launch/internal/pmi"
)

// patience bounds what a test waits for.
const patience = 30 * time.Second

// world is an environment made of NAME=value words.
func world(words ...string) environ {
	set := map[string]string{"MX_LAUNCH_TIMEOUT": "20s", "MX_MEET_TIMEOUT": "20s"}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		set[name] = value
	}
	return func(name string) string { return set[name] }
}

// socketPair returns a connection, and a descriptor of its other end as a launcher leaves it open.
func socketPair(t *testing.T) (net.Conn, int) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	far, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	near, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	f, err := far.(*net.UnixConn).File()
	_ = far.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = near.Close() })
	// The descriptor belongs to who takes it, and not to a file that a collection would close.
	held.Lock()
	held.files = append(held.files, f)
	held.Unlock()
	return near, int(f.Fd())
}

var held struct {
	sync.Mutex
	files []*os.File
}

// pmiJob starts a server, and returns the environments of its ranks.
func pmiJob(t *testing.T, size int, more ...string) (*pmi.Server, []environ) {
	t.Helper()
	s := pmi.NewServer(fmt.Sprintf("%stest-%s", StoreOfRun, strings.ReplaceAll(t.Name(), "/", "-")), size, pmi.Events{})
	var envs []environ
	for rank := range size {
		near, fd := socketPair(t)
		go func() { _ = s.Serve(rank, near) }()
		words := append([]string{"PMI_FD=" + strconv.Itoa(fd), fmt.Sprintf("PMI_RANK=%d", rank), fmt.Sprintf("PMI_SIZE=%d", size)}, more...)
		envs = append(envs, world(words...))
	}
	return s, envs
}

// handJob returns the environments of ranks that meet at a port of this host.
func handJob(t *testing.T, size int, more ...string) (envs []environ) {
	t.Helper()
	root := "MX_ROOT=" + freeport.Address(t)
	for rank := range size {
		envs = append(envs, world(append([]string{root, fmt.Sprintf("MX_RANK=%d", rank), fmt.Sprintf("MX_SIZE=%d", size)}, more...)...))
	}
	return envs
}

// together runs a function for each rank at once, and fails the test with what they return.
func together(t *testing.T, envs []environ, rank func(j *Job) error) {
	t.Helper()
	errs := make(chan error, len(envs))
	for _, env := range envs {
		go func() {
			j, err := find(env)
			if err == nil {
				err = rank(j)
			}
			errs <- err
		}()
	}
	limit := time.NewTimer(2 * patience)
	defer limit.Stop()
	var all []error
	for range envs {
		select {
		case err := <-errs:
			all = append(all, err)
		case <-limit.C:
			t.Fatal("ranks are stuck; so far: ", errors.Join(all...))
		}
	}
	if err := errors.Join(all...); err != nil {
		t.Fatal(err)
	}
}

// businessCard is what rank hands in as its n-th business card.
func businessCard(rank, n, length int) []byte {
	b := []byte(fmt.Sprintf("business card %d of rank %d ", n, rank))
	for len(b) < length {
		b = append(b, byte(len(b)*(rank+1)))
	}
	return b
}

// swap exchanges business cards, and checks all of them.
func swap(j *Job, n, length int) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	all, err := j.Exchange(ctx, businessCard(j.Rank(), n, length))
	if err != nil {
		return err
	}
	if len(all) != j.Size() {
		return fmt.Errorf("%d business cards for %d ranks", len(all), j.Size())
	}
	for rank, got := range all {
		if string(got) != string(businessCard(rank, n, length)) {
			return fmt.Errorf("rank %d has the business card %.40q of rank %d", j.Rank(), got, rank)
		}
	}
	return nil
}

func hears(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatal("nobody hears of ", what)
	}
}
