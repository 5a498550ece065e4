package pingpong

import (
	"context"
	"errors"
	"fmt"

	"gomx/internal/partner"
	"gomx/mx"
)

// partnerVariable makes a process of this program the second one. It holds that
// process's Setup.
const partnerVariable = "GOMX_PINGPONG_PARTNER"

func runWithPartner(ctx context.Context, at Setup, plan *Plan, w Watcher) error {
	ctx, lost := context.WithCancelCause(ctx)
	defer lost(nil)
	if err := at.pinTo(0); err != nil {
		return err
	}
	other := at
	other.Endpoint = at.RemoteEndpoint
	p, err := partner.Start(partnerVariable, other, lost)
	if err != nil {
		return err
	}
	defer p.End()
	defer context.AfterFunc(ctx, p.Kill)()
	return onEndpoint(ctx, at, func(ep *mx.Endpoint) error {
		address, err := p.Address()
		if err != nil {
			return err
		}
		var nic uint64
		var id uint32
		if _, err := fmt.Sscanf(address, "%x %d", &nic, &id); err != nil {
			return fmt.Errorf("the second process says that it is at %q: %w", address, err)
		}
		if err := leadTo(ctx, ep, nic, id, at, plan, w); err != nil {
			return err
		}
		return p.Wait()
	})
}

// IsPartner reports whether this process was started by Run as the second one.
// It must then call RunPartner and do nothing else.
func IsPartner() bool { return partner.Is(partnerVariable) }

// RunPartner is the second process. It ends the process when the first one has
// gone.
func RunPartner() (err error) {
	var at Setup
	if err := partner.Begin(partnerVariable, &at); err != nil {
		return err
	}
	if err := at.pinTo(1); err != nil {
		return err
	}
	done, err := initialize()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	ctx := context.Background()
	return onEndpoint(ctx, at, func(ep *mx.Endpoint) error {
		nic, id, err := mx.DecomposeEndpointAddr(ep.Addr())
		if err != nil {
			return err
		}
		fmt.Printf("%x %d\n", nic, id)
		_, _, err = follow(ctx, ep, at.Filter)
		if errors.Is(err, ErrCorrupt) {
			return nil // the first process knows, and says so
		}
		return err
	})
}
