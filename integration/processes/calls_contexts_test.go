//go:build linux

package processes_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"gomx/mx"
)

// TestConnectContextsEnds: the call waits for contexts of its own endpoint, since those of a partner are connected by the connect that the
// rows of the table begin with. It ends as the others do.
func TestConnectContextsEnds(t *testing.T) {
	initialize(t)
	for _, media := range []string{"mem", "shm", "tcp"} {
		t.Run(media, func(t *testing.T) {
			t.Parallel()
			ep := must[*mx.Endpoint](t)(mx.OpenEndpoint(0, mx.AnyEndpoint, filter, mx.WithTransports(media), mx.WithContexts(2)))
			second := must[*mx.Endpoint](t)(ep.ContextAt(1))
			if err := second.DisableProgression(); err != nil {
				t.Fatal(err)
			}
			call := func(ctx context.Context) <-chan error {
				ended := make(chan error, 1)
				go func() { ended <- ep.ConnectContexts(ctx, ep.Addr(), filter) }()
				return ended
			}
			ends := func(what string, ended <-chan error, want error) {
				t.Helper()
				select {
				case err := <-ended:
					if !errors.Is(err, want) {
						t.Errorf("ended by %s: %v, want %v", what, err, want)
					}
				case <-time.After(10 * inTime):
					t.Fatalf("not ended by %s", what)
				}
			}
			ctx, cancel := context.WithTimeout(context.Background(), asked)
			ends("time", call(ctx), context.DeadlineExceeded)
			cancel()
			ctx, cancel = context.WithCancel(context.Background())
			ended := call(ctx)
			cancel()
			ends("its context", ended, context.Canceled)
			s := &scene{t: t, ep: ep}
			stop := s.repeat(ep.Wakeup)
			ends("Wakeup", call(context.Background()), mx.ErrTimeout)
			stop()
			ended = call(context.Background())
			for range 1000 {
				if len(ep.Pending()) > 0 {
					break
				}
				time.Sleep(time.Millisecond)
			}
			if err := ep.Close(); err != nil {
				t.Error(err)
			}
			ends("Close", ended, mx.ErrBadEndpoint)
		})
	}
}
