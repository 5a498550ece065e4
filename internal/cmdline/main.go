package cmdline

import (
	"context"
	"io"
	"os"
	"os/signal"
	"time"
)

// sameEvent is how long signals count as one: timeout(1) and some shells send an interrupt twice.
const sameEvent = time.Second / 2

// Main runs a program with the arguments and the output of the process, and ends the process with the exit status that it
// returns. An interrupt ends the context; a second one ends the process.
func Main(run func(ctx context.Context, args []string, stdout, stderr io.Writer) int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, func() { time.Sleep(sameEvent); stop() })
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// Interrupted returns a channel that tells of the first of the signals. Those behind it end the process, as if nobody had
// asked for them: what a program waits for at its end may never come.
func Interrupted(signals ...os.Signal) <-chan os.Signal {
	caught, told := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(caught, signals...)
	go func() {
		told <- <-caught
		time.Sleep(sameEvent)
		signal.Stop(caught)
	}()
	return told
}
