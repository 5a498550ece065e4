package mx

import (
	"errors"
	"fmt"
	"strings"

	"gomx/transport"
)

// DisableProgression stops the progress of the endpoint until ReenableProgression (VIII.1.1): no message is received,
// no queued one is sent, and no handler is called. It is a switch, not a count. Messages that arrive meanwhile stay in
// the transport, and block their senders when it is full. The limit of links of strangers still holds (WithStrangers).
// It waits for a handler that runs in another goroutine, and may be called inside one. Error: ErrBadEndpoint.
func (ep *Endpoint) DisableProgression() error {
	return ep.fail("disable progression", "", ep.d.Pause(true))
}

// ReenableProgression undoes DisableProgression, and makes one pass (VIII.1.1).
func (ep *Endpoint) ReenableProgression() error {
	return ep.fail("reenable progression", "", ep.d.Pause(false))
}

// Progress makes progress once (VIII.1.2). Programs seldom need it: every call makes progress, and the library's own
// goroutine does while there are none. Error: ErrBadEndpoint. Safe from any goroutine.
func (ep *Endpoint) Progress() error { return ep.fail("progress", "", ep.d.Progress()) }

// PollFD returns a descriptor for callers with an event loop of their own: it becomes readable when something arrives
// for an endpoint that Arm has armed. It belongs to the endpoint; only poll it. Errors: ErrNoDriver if the endpoint's
// transports have none, such as mem alone, ErrNoResources if this process has no file descriptor left, ErrBadEndpoint.
// Safe from any goroutine.
func (ep *Endpoint) PollFD() (int, error) {
	fd, err := ep.d.FD()
	if err != nil {
		return -1, ep.fail("poll descriptor", "", noDescriptor(err, strings.Join(ep.names, ", ")+" has no descriptor to poll"))
	}
	return fd, nil
}

// noDescriptor says why there is nothing to poll: the doorbell has none, which the text says, or the system refuses what it takes.
func noDescriptor(err error, text string) error {
	if errors.Is(err, transport.ErrUnsupported) {
		return &instead{text + ": wait with Wait, or open the endpoint with shm or tcp", err}
	}
	if err = transport.Shortage(err); queueCode(err) == ErrFailure {
		return fmt.Errorf("%w: %w", ErrNoDriver, err)
	}
	return err
}

// Arm prepares the endpoint for a caller that is about to sleep on PollFD. If it returns false, there is something to
// collect already, or another goroutine waits for the endpoint just now; then the caller must not sleep. Any later call on the endpoint disarms it, one of another goroutine, too, which
// has to wake the caller itself. After waking up, collect
// with TestAny and the like, and arm again. The caller is woken, too, when the time of a request has passed. Where it does not come, since
// it is busy, the library's own goroutine makes progress for its peers, about 0.1 seconds later. Error: ErrBadEndpoint.
func (ep *Endpoint) Arm() (bool, error) {
	ok, err := ep.d.Arm()
	return ok, ep.fail("arm", "", err)
}
