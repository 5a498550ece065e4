// Command exs_viewer shows a simulation while it runs, as section 4.2 of the paper about
// persistent sends and receives has it. The simulation is a plate that heat spreads on.
// The viewer draws it at its own pace. The simulation never waits for it.
//
//	exs_viewer                            both, in one program
//	exs_viewer -listen 127.0.0.1:5001     the simulation, which viewers may come to and leave
//	exs_viewer -to 127.0.0.1:5001         a viewer
//
// The viewer has a persistent receive on memory for two frames, and wants
// notices. The simulation sends a frame into one half, and the next one into the other when
// the notice of the first was taken: so none is written that is being drawn. If the viewer
// is not so far, the simulation computes on, and sends a newer frame later.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"os/signal"
	"time"

	"gomx/exs"
)

func main() {
	listen := flag.String("listen", "", "be the simulation, at this `address`")
	to := flag.String("to", "", "be a viewer of the simulation at this `address`")
	var v viewer
	flag.IntVar(&v.frames, "frames", 0, "draw so many frames, then end; 0: until interrupted")
	flag.DurationVar(&v.pace, "every", 100*time.Millisecond, "the `time` between two frames")
	flag.BoolVar(&v.plain, "plain", false, "print frames one below the other, and do not move the cursor")
	flag.StringVar(&v.pictures, "png", "", "write frames as pictures into this `folder`")
	flag.Parse()
	v.out = os.Stdout
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *listen, *to, &v); err != nil {
		fmt.Fprintln(os.Stderr, "exs_viewer:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, listen, to string, v *viewer) error {
	if listen != "" && to != "" {
		return errors.New("-listen and -to exclude each other")
	}
	if err := exs.Init(exs.Version1); err != nil {
		return err
	}
	defer exs.Finalize()
	if to != "" {
		at, err := netip.ParseAddrPort(to)
		if err != nil {
			return err
		}
		return v.watch(ctx, at)
	}
	here := listen
	if here == "" {
		here = "127.0.0.1:0"
	}
	at, err := netip.ParseAddrPort(here)
	if err != nil {
		return err
	}
	s, err := newSimulation(at)
	if err != nil {
		return err
	}
	if listen != "" {
		fmt.Println("viewers may come to", s.addr)
		return s.run(ctx)
	}
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.run(ctx) }()
	err = v.watch(ctx, s.addr)
	stop()
	return errors.Join(err, <-ended)
}
