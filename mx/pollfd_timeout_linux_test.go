package mx_test

import (
	"testing"
	"time"

	"gomx/internal/testlength"
	"gomx/mx"
)

// TestTimeoutsWakeWhoPolls: a loop that sleeps on the descriptor is woken when the time of a request has passed, which nobody else notices.
func TestTimeoutsWakeWhoPolls(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	for what, begin := range map[string]func(a *mx.Endpoint, to mx.EndpointAddr) (mx.Request, error){
		"watch": func(a *mx.Endpoint, to mx.EndpointAddr) (mx.Request, error) { return a.Watch(to, 1, nil) },
		"send": func(a *mx.Endpoint, to mx.EndpointAddr) (mx.Request, error) {
			return a.Issend([]byte("hello"), to, 1, nil)
		},
	} {
		t.Run(what, func(t *testing.T) {
			over(t, func(w *world) {
				if w.medium == "mem" {
					w.Skip("nothing to poll")
				}
				ok := func(err error) {
					w.Helper()
					if err != nil {
						w.Fatal(err)
					}
				}
				a, b, toB, _ := w.pair()
				ok(b.DisableProgression()) // it stands still
				defer func() { ok(b.ReenableProgression()) }()
				r, err := begin(a, toB)
				ok(err)
				ok(a.SetRequestTimeout(r, 300*time.Millisecond))
				q, done := w.queue(a), make([]mx.Completion, 1)
				w.add(q, r)
				fds, err := q.PollFDs()
				ok(err)
				for n := 0; n == 0; {
					n, err = q.Wait(noContext, done, 0)
					ok(err)
					if n == 1 {
						break
					}
					armed, err := q.Arm()
					ok(err)
					if armed && asleep(w, fds[0], bound) {
						w.Fatal("the time has passed, and nobody is woken")
					}
				}
				if done[0].Request != r || done[0].Status.Code != mx.StatusTimeout {
					w.Errorf("%+v", done[0])
				}
			})
		})
	}
}
