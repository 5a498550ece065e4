package pingpong

import (
	"context"
	"runtime"

	"gomx/bench/pingpong/internal/affinity"
	"gomx/mx"
)

// runInside has both sides in this process, a goroutine each.
func runInside(ctx context.Context, at Setup, p *Plan, w Watcher) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	place := make(chan mx.EndpointAddr, 1)
	side := func(core int, at Setup, f func(*mx.Endpoint) error) <-chan error {
		ended := make(chan error, 1)
		go func() {
			err := onThread(at.Cores, core, func() error { return onEndpoint(ctx, at, f) })
			if err != nil {
				fail(err)
			}
			ended <- err
		}()
		return ended
	}
	other := at
	other.Endpoint = at.RemoteEndpoint
	followed := side(1, other, func(ep *mx.Endpoint) error {
		place <- ep.Addr()
		_, _, err := follow(ctx, ep, at.Filter)
		return err
	})
	led := side(0, at, func(ep *mx.Endpoint) error {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case to := <-place:
			nic, id, err := mx.DecomposeEndpointAddr(to)
			if err != nil {
				return err
			}
			return leadTo(ctx, ep, nic, id, at, p, w)
		}
	})
	err := <-led
	if other := <-followed; err == nil {
		err = other
	}
	return err
}

// onThread runs f on a thread that is bound to one of the cores. The thread ends
// with the goroutine, so that nothing else comes to run on it.
func onThread(cores []int, which int, f func() error) error {
	if len(cores) > which {
		runtime.LockOSThread()
		if err := affinity.PinThread(cores[which]); err != nil {
			return err
		}
	}
	return f()
}
