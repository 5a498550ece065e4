package main

import (
	"context"
	"os"

	"gomx/bench/compare/internal/socket"
	"gomx/bench/internal/child"
)

// bareSocket is a TCP connection with nothing on top of it. It is measured by
// this program itself, started once more.
type bareSocket struct {
	path string // of this program, found by locate
}

const bareName = "socket"

func (b *bareSocket) name() string { return bareName }

func (b *bareSocket) does(j job) bool {
	return j.medium == tcp && (j.quantity == "latency" || j.quantity == "rate")
}

func (b *bareSocket) locate() (err error) {
	if err := socket.Available(); err != nil {
		return err
	}
	b.path, err = os.Executable()
	return err
}

func (b *bareSocket) over(m medium) string {
	if m != tcp {
		return ""
	}
	return "two processes that spin on a loopback connection, at 0 B with one byte, in the rate with one write for a window"
}

func (b *bareSocket) build(context.Context, string) error { return nil }

func (b *bareSocket) run(ctx context.Context, j job, at setting) ([]record, error) {
	return at.records(ctx, b.command(j, at))
}

func (b *bareSocket) command(j job, at setting) child.Command {
	env := append(os.Environ(), socket.Variable+"="+socket.LeadRole)
	return child.Command{Path: b.path, Args: j.args(at), Env: env, Timeout: at.timeout}
}
