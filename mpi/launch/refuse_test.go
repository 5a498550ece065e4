package launch

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"gomx/internal/freeport"
	"gomx/internal/testlength"
)

// meeting2 starts a root of two ranks, and returns it with the environment of the other rank.
func meeting2(t *testing.T, more ...string) (*Job, *root, []string) {
	t.Helper()
	rootSetting := "MX_ROOT=" + freeport.Address(t)
	j, err := find(world(append([]string{rootSetting, "MX_RANK=0", "MX_SIZE=2", "MX_SECRET=sesame"}, more...)...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Finalize() })
	return j, j.meeting.(*root), append([]string{rootSetting, "MX_RANK=1", "MX_SIZE=2", "MX_SECRET=sesame"}, more...)
}

// both has the two ranks exchange business cards.
func both(t *testing.T, first *Job, second []string) *Job {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- swap(first, 0, 10) }()
	j, err := find(world(second...))
	if err == nil {
		err = swap(j, 0, 10)
	}
	if err := errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	return j
}

// TestStrangers has others come to the port where ranks meet: they are counted, and disturb nobody.
func TestStrangers(t *testing.T) {
	j, r, second := meeting2(t)
	var open []net.Conn
	const scanners = 40
	for i := range scanners {
		c, err := net.Dial("tcp", r.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
		switch i % 4 {
		case 0: // says nothing
		case 1:
			_, _ = io.WriteString(c, "GET / HTTP/1.1\r\n\r\n")
		case 2:
			_, _ = c.Write(make([]byte, 4096))
		case 3:
			_ = c.Close()
		}
	}
	if err := both(t, j, second).Finalize(); err != nil {
		t.Error(err)
	}
	for _, c := range open {
		_ = c.Close()
	}
	r.hasStrangers(t, scanners)
}

// hasStrangers waits until so many strangers were counted: each is done with when its connection ends.
func (r *root) hasStrangers(t *testing.T, least int) {
	t.Helper()
	counted := func() int {
		r.mu.Lock()
		defer r.mu.Unlock()
		return r.strangers
	}
	limit := time.After(patience)
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	for counted() < least {
		select {
		case <-again.C:
		case <-limit:
			t.Fatalf("%d strangers were counted, not %d", counted(), least)
		}
	}
}

// TestRefusals has ranks come that make no job with rank 0.
func TestRefusals(t *testing.T) {
	testlength.Long(t)
	for _, c := range []struct {
		change, says string
		final        bool
	}{
		{"MX_SIZE=3", "rank 0 counts 2 ranks, and this process 3: start all with the same number (MX_SIZE", true},
		{"MX_SECRET=another", "another secret", false},
		{"MX_SECRET=", "another secret", false},
	} {
		_, r, second := meeting2(t)
		var err error
		for meet := 300 * time.Millisecond; meet < patience; meet *= 4 { // a busy machine may have no time for the handshake
			if _, err = find(world(append(second, c.change, "MX_MEET_TIMEOUT="+meet.String())...)); err == nil || strings.Contains(err.Error(), c.says) {
				break
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.says) || !errors.Is(err, ErrNoWay) || c.final == strings.Contains(err.Error(), "within") {
			t.Errorf("%s: %v, want %q", c.change, err, c.says)
		}
		if !c.final {
			r.hasStrangers(t, 1)
		}
	}
}

func TestSameRankTwice(t *testing.T) {
	j, _, second := meeting2(t)
	both(t, j, second)
	if _, err := find(world(second...)); err == nil || !strings.Contains(err.Error(), "another process is rank 1 already") {
		t.Errorf("%v, want one about two processes with the same rank", err)
	}
}

// TestRootTellsOfMisfits: a rank 0 that waits in vain says who came and was turned away.
func TestRootTellsOfMisfits(t *testing.T) {
	j, _, second := meeting2(t, "MX_MEET_TIMEOUT=2s")
	if _, err := find(world(append(second, "MX_SIZE=3")...)); err == nil {
		t.Fatal("rank 1 of 3 was welcome")
	}
	_, err := j.Exchange(t.Context(), nil)
	if err == nil || !strings.Contains(err.Error(), "rank 1 did not come") || !strings.Contains(err.Error(), "this job has 2 ranks, and rank 1 of 3 came from 127.0.0.1") {
		t.Error(err)
	}
}

// TestRootIsAbsent looks for a rank 0 that never comes, and waits for a rank 1 that never does.
func TestRootIsAbsent(t *testing.T) {
	testlength.Long(t)
	_, err := find(world("MX_ROOT="+freeport.Address(t), "MX_RANK=1", "MX_SIZE=2", "MX_MEET_TIMEOUT=200ms"))
	if err == nil || !strings.Contains(err.Error(), "rank 0 was not found within 200ms") || !errors.Is(err, ErrNoWay) {
		t.Error(err)
	}
	j, _, _ := meeting2(t, "MX_MEET_TIMEOUT=200ms")
	if _, err := j.Exchange(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "rank 1 did not come") {
		t.Error(err)
	}
}

func TestPortIsTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, err = find(world("MX_ROOT="+l.Addr().String(), "MX_RANK=0", "MX_SIZE=2"))
	if err == nil || !strings.Contains(err.Error(), l.Addr().String()) {
		t.Error(err)
	}
}

func TestRankList(t *testing.T) {
	for want, ranks := range map[string][]int{"": nil, "4": {4}, "1-3": {1, 2, 3}, "1, 3-4, 9": {1, 3, 4, 9}} {
		if got := rankList(ranks); got != want {
			t.Errorf("%d is written %q, not %q", ranks, got, want)
		}
	}
}

// FuzzBundle unpacks what nobody has packed.
func FuzzBundle(f *testing.F) {
	for _, businessCards := range [][][]byte{{{}, []byte("one")}, {nil, {1, 2, 3}}} {
		f.Add(strings.Join(bundle(businessCards, 900), ""))
	}
	f.Add("1.")
	f.Add("9999999999.x")
	f.Fuzz(func(t *testing.T, text string) {
		businessCards := make([][]byte, 4)
		_, rest, err := parts(text)
		if err != nil {
			return
		}
		n, err := unbundle(rest, businessCards)
		if err == nil && n > 0 && len(bundle(businessCards, 900)) == 0 {
			t.Error("business cards without a bundle")
		}
	})
}
