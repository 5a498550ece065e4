package cmdline

import (
	"context"
	"io"
	"os"
	"os/signal"
)

// Main runs a program with the arguments and the output of the process, and ends the process with the exit status that it
// returns. An interrupt ends the context.
func Main(run func(ctx context.Context, args []string, stdout, stderr io.Writer) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}
