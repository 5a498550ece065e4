package service

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"gomx/mx"
)

// A process has half a minute to answer, in several attempts. When this process stands still during one, another one follows.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		name     string
		still    map[int]time.Duration // how long this process stands still in an attempt
		attempts int
	}{
		{"nobody answers", nil, 3},
		{"stopped in the first", map[int]time.Duration{1: time.Minute}, 4},
		{"stopped in the last", map[int]time.Duration{3: time.Hour}, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attempts := 0
				_, err := Connect(t.Context(), func(ctx context.Context) (mx.EndpointAddr, error) {
					attempts++
					<-ctx.Done()
					time.Sleep(c.still[attempts])
					return mx.EndpointAddr{}, fmt.Errorf("attempt %d: %w", attempts, ctx.Err())
				})
				if !errors.Is(err, context.DeadlineExceeded) || attempts != c.attempts {
					t.Errorf("%d attempts, not %d: %v", attempts, c.attempts, err)
				}
			})
		})
	}
}

// The end of the caller's context is the end of the attempts.
func TestConnectEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 12*time.Second)
		defer cancel()
		_, err := Connect(ctx, func(ctx context.Context) (mx.EndpointAddr, error) {
			<-ctx.Done()
			return mx.EndpointAddr{}, ctx.Err()
		})
		if took := time.Since(start); err == nil || took != 12*time.Second {
			t.Errorf("%v after %v", err, took)
		}
	})
}
