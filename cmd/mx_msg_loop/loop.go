package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"gomx/bench/pingpong"
	"gomx/mx"
)

// filter keeps strangers away.
const filter = 0x6d736c70 // "mslp"

// loop goes through the messages over one transport.
type loop struct {
	o        *options
	progress io.Writer
	total    total
	corrupt  error // the first message that did not arrive as it was sent
	ends     time.Time
	next     time.Time // when to say what it is at
}

// run opens the endpoints and goes through all rounds. An error is one that ends it: corrupt messages are in l.corrupt.
func (l *loop) run(ctx context.Context) (err error) {
	p, err := newPair(l.total.Transport, l.o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	l.next = time.Now().Add(l.o.every)
	if l.o.lasts > 0 {
		l.ends = time.Now().Add(l.o.lasts)
	}
	random := rand.New(rand.NewPCG(l.o.seed, 0))
	for round := 0; l.goesOn(ctx, round); round++ {
		for _, length := range l.o.lengths {
			if l.o.random {
				length = l.o.steps.Start + random.IntN(l.o.steps.End-l.o.steps.Start)
			}
			if err := l.alignments(ctx, p, length); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *loop) goesOn(ctx context.Context, round int) bool {
	switch {
	case ctx.Err() != nil || l.stops():
		return false
	case l.o.lasts > 0:
		return time.Now().Before(l.ends)
	}
	return l.o.rounds == 0 || round < l.o.rounds
}

// stops reports whether an error ends the loop.
func (l *loop) stops() bool { return l.corrupt != nil && !l.o.goOn }

// alignments sends messages of a length with each alignment of the sender's buffer to each of the receiver's.
func (l *loop) alignments(ctx context.Context, p *pair, length int) error {
	for from := l.o.align; from < l.o.alignBelow; from++ {
		for to := l.o.align; to < l.o.alignBelow; to++ {
			if ctx.Err() != nil || l.stops() || l.o.lasts > 0 && !time.Now().Before(l.ends) {
				return nil
			}
			if err := p.exchange(step{length, from, to}); err != nil {
				if !errors.Is(err, pingpong.ErrCorrupt) {
					return fmt.Errorf("length %d, alignments %d and %d: %w", length, from, to, err)
				}
				l.total.Errors++
				if l.corrupt == nil {
					l.corrupt = fmt.Errorf("length %d, alignments %d and %d: %w", length, from, to, err)
				}
			}
			l.total.Messages += uint64(l.o.parallel)
			l.total.Bytes += uint64(l.o.parallel) * uint64(length)
			l.total.Longest = max(l.total.Longest, length)
			if l.o.verbose && time.Now().After(l.next) {
				l.next = time.Now().Add(l.o.every)
				fmt.Fprintf(l.progress, "%s: length %d, alignments %d and %d, %d messages, %d bytes, %d errors\n",
					l.total.Transport, length, from, to, l.total.Messages, l.total.Bytes, l.total.Errors)
			}
		}
	}
	return nil
}

// open opens an endpoint on a transport.
func open(transport string) (*mx.Endpoint, error) {
	return mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter, mx.WithTransports(transport))
}
