package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"gomx/bench/pingpong"
	"gomx/mx"
)

func openPair(t *testing.T, args ...string) *pair {
	t.Helper()
	o, err := parseOptions(append([]string{"-E", "1000", "-transport", "mem"}, args...))
	if err != nil {
		t.Fatal(err)
	}
	if err := mx.Init(); err != nil {
		t.Fatal(err)
	}
	p, err := newPair("mem", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(p.close(), mx.Finalize()); err != nil {
			t.Error(err)
		}
	})
	return p
}

// TestFaultsAreFound spoils what has arrived in all ways that a check looks at.
func TestFaultsAreFound(t *testing.T) {
	p := openPair(t)
	s, e := step{100, 3, 5}, p.ends[1]
	if err := p.exchange(s); err != nil {
		t.Fatal(err)
	}
	good := mx.Status{Source: e.peer, MatchInfo: matchTop, MsgLength: 100, XferLength: 100}
	all, message := p.target(e, s, 0)
	byteOf := func(b *byte) func(*mx.Status) func() {
		return func(*mx.Status) func() { *b++; return func() { *b-- } }
	}
	status := func(f func(*mx.Status)) func(*mx.Status) func() {
		return func(st *mx.Status) func() { f(st); return func() {} }
	}
	for name, spoil := range map[string]func(*mx.Status) func(){
		"first byte":       byteOf(&message[0]),
		"last byte":        byteOf(&message[99]),
		"byte in front":    byteOf(&all[guard-1]),
		"first in front":   byteOf(&all[0]),
		"byte behind":      byteOf(&all[guard+100]),
		"last byte behind": byteOf(&all[len(all)-1]),
		"length":           status(func(st *mx.Status) { st.XferLength = 99 }),
		"match":            status(func(st *mx.Status) { st.MatchInfo++ }),
		"sender":           status(func(st *mx.Status) { st.Source = p.ends[1].ep.Addr() }),
	} {
		st := good
		if err := p.checkOne(e, s, 0, &st, 0); err != nil {
			t.Fatalf("what has arrived is refused: %v", err)
		}
		mend := spoil(&st)
		if err := p.checkOne(e, s, 0, &st, 0); !errors.Is(err, pingpong.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		mend()
	}
}

// TestLateMessages waits for what nobody sends and nobody receives, as a message may come in any time.
func TestLateMessages(t *testing.T) {
	s := step{900, 0, 0}
	for what, wait := range map[string]func(p *pair) error{
		"a probe": func(p *pair) error { return p.take(p.ends[1], s, p.ends[1].reqs, 0) },
		"a receive": func(p *pair) error {
			if err := p.post(p.ends[1], s, p.ends[1].reqs, 0); err != nil {
				return err
			}
			return p.check(p.ends[1], p.ends[0], s, p.ends[1].reqs, 0)
		},
		"a send": func(p *pair) error { p.o.sync = true; return p.send(p.ends[0], s, 0) },
	} {
		t.Run(what, func(t *testing.T) {
			p := openPair(t, "-A=8")
			p.o.timeout = time.Nanosecond
			ctx, cancel := context.WithTimeout(t.Context(), p.o.timeout)
			defer cancel()
			p.timed = ctx
			if err := wait(p); err == nil || !strings.Contains(err.Error(), what+" is not complete after 1ns: allow it more time with -t") {
				t.Error(err)
			}
		})
	}
}
