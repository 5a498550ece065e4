package pmi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const patience = 20 * time.Second

// pair returns two ends of a connection that has room for what is not read yet.
func pair(t *testing.T) (near, far net.Conn) {
	t.Helper()
	l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if near, err = net.Dial("unix", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if far, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = near.Close()
		_ = far.Close()
	})
	return near, far
}

// stepd reads as Slurm's step daemon does: init with one read of 64 bytes, each command with one
// read of 1024, whatever comes after it or is not there yet.
func stepd(c net.Conn, store map[string]string) error {
	b := make([]byte, 1024)
	n, err := c.Read(b[:64])
	if err != nil {
		return err
	}
	if string(b[:n]) != "cmd=init pmi_version=1 pmi_subversion=1\n" {
		return fmt.Errorf("init is %q", b[:n])
	}
	answer := "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n"
	for {
		if _, err := io.WriteString(c, answer); err != nil {
			return err
		}
		if n, err = c.Read(b); err != nil {
			return err
		}
		text := string(b[:n])
		if !strings.HasSuffix(text, "\n") || strings.Count(text, "\n") != 1 {
			return fmt.Errorf("one read gets %q, which is not one command", text)
		}
		l, err := parseLine(text)
		if err != nil {
			return err
		}
		switch l.name {
		case "get_maxes":
			answer = "cmd=maxes kvsname_max=256 keylen_max=256 vallen_max=1024\n"
		case "get_my_kvsname":
			answer = "cmd=my_kvsname kvsname=7.0\n"
		case "put":
			store[l.values["key"]] = l.values["value"]
			answer = "cmd=put_result rc=0\n"
		case "get":
			answer = "cmd=get_result rc=1\n"
			if v, ok := store[l.values["key"]]; ok {
				answer = "cmd=get_result rc=0 value=" + v + "\n"
			}
		case "barrier_in":
			answer = "cmd=barrier_out rc=0\n"
		case "finalize":
			_, err := io.WriteString(c, "cmd=finalize_ack rc=0\n")
			return err
		default:
			return fmt.Errorf("unknown command %q", text)
		}
	}
}

func TestStepDaemon(t *testing.T) {
	near, far := pair(t)
	failed := make(chan error, 1)
	go func() { failed <- stepd(far, map[string]string{}) }()
	ctx := t.Context()
	k, err := NewClient(ctx, near, Limits{Answer: patience, Barrier: patience})
	if err != nil {
		t.Fatal(err, <-failed)
	}
	if k.Name != "7.0" || k.LongestKey != usualKey || k.LongestValue > usualValue {
		t.Errorf("store %s, keys of %d, values of %d bytes", k.Name, k.LongestKey, k.LongestValue)
	}
	long := strings.Repeat("x", k.LongestValue)
	key := strings.Repeat("k", k.LongestKey)
	if err := errors.Join(k.Put(ctx, key, long), k.Put(ctx, "a", "1"), k.Barrier(ctx)); err != nil {
		t.Fatal(err)
	}
	if v, err := k.Get(ctx, key); err != nil || v != long {
		t.Errorf("got %d bytes, %v", len(v), err)
	}
	if _, err := k.Get(ctx, "b"); !errors.Is(err, ErrNoKey) {
		t.Errorf("a key that nobody has put: %v", err)
	}
	for _, bad := range [][2]string{{key + "k", "1"}, {"c", long + "x"}, {"c", "a b"}, {"c", "a=b"}, {"", "1"}, {"c", ""}, {"c", "a\nb"}, {"c", `a\b`}} {
		if err := k.Put(ctx, bad[0], bad[1]); err == nil {
			t.Errorf("put %.20q %.20q was done", bad[0], bad[1])
		}
	}
	if err := k.Finalize(ctx); err != nil {
		t.Error(err)
	}
	if err := <-failed; err != nil {
		t.Error(err)
	}
}

// script is a server that answers command after command with the same, and ends with the last.
func script(c net.Conn, answers ...string) {
	b := make([]byte, 2048)
	for _, answer := range answers {
		if _, err := c.Read(b); err != nil {
			return
		}
		if _, err := io.WriteString(c, answer); err != nil {
			return
		}
	}
}

const (
	goodInit  = "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=2\n"
	goodMaxes = "  rc=0 cmd=maxes more=yes  vallen_max=1024 keylen_max=64 kvsname_max=256 \n"
	goodName  = "cmd=my_kvsname rc=0 kvsname=kvs_1\n"
)

// TestBadServers wants an error with the name of the step, soon.
func TestBadServers(t *testing.T) {
	for name, c := range map[string]struct {
		answers []string
		says    []string
	}{
		"closes at once":        {nil, []string{"init", "hung up", "a rank joins once"}},
		"closes later":          {[]string{goodInit, goodMaxes}, []string{"get_my_kvsname", "hung up"}},
		"garbage":               {[]string{"\x00\xff\x17 \n"}, []string{"init"}},
		"an empty line":         {[]string{"\n"}, []string{"init"}},
		"another answer":        {[]string{goodInit, "cmd=barrier_out\n"}, []string{"get_maxes", "barrier_out"}},
		"refuses":               {[]string{"cmd=response_to_init rc=-1 msg=no\n"}, []string{"init", "no"}},
		"another version":       {[]string{"cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n"}, []string{"version 2"}},
		"a store without name":  {[]string{goodInit, goodMaxes, "cmd=my_kvsname kvsname=\n"}, []string{"get_my_kvsname"}},
		"half a line":           {[]string{goodInit, "cmd=max"}, []string{"get_maxes", "within a line"}},
		"a line without an end": {[]string{strings.Repeat("x", 2*longestAnswer)}, []string{"init", "without an end"}},
		"talks too much":        {[]string{strings.Repeat(goodInit, 9)}, []string{"launcher"}},
	} {
		t.Run(name, func(t *testing.T) {
			near, far := pair(t)
			go func() {
				script(far, c.answers...)
				_ = far.Close()
			}()
			_, err := NewClient(t.Context(), near, Limits{Answer: patience, Barrier: patience})
			for _, part := range c.says {
				if err == nil || !strings.Contains(err.Error(), part) {
					t.Errorf("%v, want %q in it", err, part)
				}
			}
		})
	}
}

// TestSilentServer stalls at each step.
func TestSilentServer(t *testing.T) {
	steps := []string{goodInit, goodMaxes, goodName, "cmd=put_result rc=0\n", "cmd=barrier_out rc=0\n", "cmd=get_result rc=0 value=1\n"}
	names := []string{"init", "get_maxes", "get_my_kvsname", "put k", "barrier", "get k", "finalize"}
	for i, want := range names {
		near, far := pair(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		gaveUp := errors.New("the test gave up")
		limits := Limits{Answer: patience, Barrier: patience}
		if i == 0 { // this one by the clock, the others by a context
			limits.Answer = 50 * time.Millisecond
		}
		go func() {
			script(far, steps[:i]...)
			_, _ = far.Read(make([]byte, 2048)) // the command that stays without an answer
			if i > 0 {
				cancel(gaveUp)
			}
		}()
		err := conversation(ctx, near, limits)
		cancel(nil)
		if !strings.HasPrefix(fmt.Sprint(err), want+": ") || !errors.Is(err, ErrSilent) && !errors.Is(err, gaveUp) {
			t.Errorf("%v, want one about %s", err, want)
		}
	}
}

func conversation(ctx context.Context, c net.Conn, limits Limits) error {
	k, err := NewClient(ctx, c, limits)
	if err != nil {
		return err
	}
	if err := k.Put(ctx, "k", "1"); err != nil {
		return err
	}
	if err := k.Barrier(ctx); err != nil {
		return err
	}
	if _, err := k.Get(ctx, "k"); err != nil {
		return err
	}
	return k.Finalize(ctx)
}

// TestLateAnswer has an answer come when nobody waits for it any more: it must not pass for that of
// the next command.
func TestLateAnswer(t *testing.T) {
	near, far := pair(t)
	go script(far, goodInit, goodMaxes, goodName)
	k, err := NewClient(t.Context(), near, Limits{Answer: patience, Barrier: patience})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.Get(ctx, "first"); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if _, err := io.WriteString(far, "cmd=get_result rc=0 value=old\n"); err != nil {
		t.Fatal(err)
	}
	if v, err := k.Get(t.Context(), "second"); err == nil {
		t.Errorf("the second command has the answer of the first: %q", v)
	}
}

func TestIdentify(t *testing.T) {
	for answer, ok := range map[string]bool{
		"cmd=initack rc=0\ncmd=set size=4\ncmd=set rank=3\ncmd=set debug=0\n": true,
		"cmd=initack rc=0\ncmd=set size=4\ncmd=set rank=4\ncmd=set debug=0\n": false,
		"cmd=initack rc=0\ncmd=set size=4\ncmd=set debug=0\ncmd=set x=0\n":    false,
		"cmd=initack rc=-1\n": false,
		"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n\r\n": false,
		strings.Repeat("x", 5000):                                      false,
	} {
		near, far := pair(t)
		go func() {
			script(far, answer)
			_ = far.Close()
		}()
		rank, size, err := Identify(near, "3", patience)
		if (err == nil) != ok || ok && (rank != 3 || size != 4) {
			t.Errorf("%.40q: rank %d of %d, %v", answer, rank, size, err)
		}
	}
}

// TestNoTimeToAsk: a time limit that is over before a command is written is no launcher that hung up.
func TestNoTimeToAsk(t *testing.T) {
	near, _ := pair(t)
	if _, err := NewClient(t.Context(), near, Limits{Answer: time.Nanosecond}); !errors.Is(err, ErrSilent) || errors.Is(err, ErrGone) {
		t.Errorf("%v, want that there was no answer in time", err)
	}
}
