package mx_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"gomx/mx"
)

func TestX31EveryReturnCodeHasAText(t *testing.T) {
	seen := map[string]mx.ReturnCode{}
	for c := range mx.ReturnCode(44) {
		text := mx.Strerror(c)
		if other, twice := seen[text]; text == "" || twice {
			t.Errorf("code %d: %q, as %d", uint32(c), text, uint32(other))
		}
		seen[text] = c
		if c.Error() != text {
			t.Errorf("code %d: Error is %q", uint32(c), c.Error())
		}
	}
	for _, c := range []mx.ReturnCode{44, 1000, 0xffffffff} {
		if text := mx.Strerror(c); !strings.Contains(text, "unknown") {
			t.Errorf("code %d: %q", uint32(c), text)
		}
	}
}

func TestX32EveryStatusCodeHasAText(t *testing.T) {
	seen := map[string]mx.StatusCode{}
	for c := range mx.StatusCode(23) {
		text := mx.Strstatus(c)
		if other, twice := seen[text]; text == "" || twice || strings.Contains(text, "unknown status") {
			t.Errorf("status %d: %q, as %d", uint8(c), text, uint8(other))
		}
		seen[text] = c
		if c.String() != text || c.Error() != text {
			t.Errorf("status %d: %q, %q", uint8(c), c.String(), c.Error())
		}
	}
	for _, c := range []mx.StatusCode{23, 100, 255} {
		if text := mx.Strstatus(c); !strings.Contains(text, "unknown") {
			t.Errorf("status %d: %q", uint8(c), text)
		}
	}
}

// handlerNamed returns a handler that says who it is.
func handlerNamed(name string, last *string) mx.ErrorHandler {
	return func(err *mx.Error) error {
		*last = name
		return err
	}
}

// setHandler sets the global handler for the rest of the test.
func setHandler(t testing.TB, h mx.ErrorHandler) {
	before := mx.SetErrorHandler(h)
	t.Cleanup(func() { mx.SetErrorHandler(before) })
}

func TestXISetErrorHandlerReturnsThePreviousAndWorksBeforeInit(t *testing.T) {
	var last string
	setHandler(t, handlerNamed("first", &last))
	refused(t, mx.Finalize(), mx.ErrNotInitialized)
	if last != "first" {
		t.Error("the handler was not called before Init")
	}
	previous := mx.SetErrorHandler(handlerNamed("second", &last))
	_ = previous(&mx.Error{Code: mx.ErrBusy})
	if last != "first" {
		t.Errorf("the previous handler is %s", last)
	}
	initialize(t)
	refused(t, mx.Init(), mx.ErrAlreadyInitialized)
	if last != "first" {
		t.Errorf("%s was called for an Init that only came second", last)
	}
	fails := func() {
		_, err := mx.OpenEndpoint(mx.AnyNIC, mx.MaxEndpoints, 0)
		refused(t, err, mx.ErrBadEndpointID)
	}
	if fails(); last != "second" {
		t.Errorf("%s was called", last)
	}
	if got := mx.SetErrorHandler(nil)(&mx.Error{Code: mx.ErrBusy}); !errors.Is(got, mx.ErrBusy) || last != "second" {
		t.Error(got, last)
	}
	last = ""
	if fails(); last != "" {
		t.Error("nil did not take the handler away")
	}
}

func TestXIReturnOfTheHandlerBecomesTheError(t *testing.T) {
	over(t, func(w *world) {
		mine := errors.New("mine")
		var got *mx.Error
		setHandler(w, func(err *mx.Error) error {
			got = err
			return mine
		})
		a := w.open()
		if _, err := a.Irecv(nil, 1, 0, nil); err != mine {
			w.Errorf("%v", err)
		}
		if got == nil || got.Code != mx.ErrBadMatchMask || got.Op != "irecv" || got.Endpoint != a.String() {
			w.Errorf("%+v", got)
		}
	})
}

func TestXIEndpointsHandlerComesFirst(t *testing.T) {
	over(t, func(w *world) {
		var last string
		setHandler(w, handlerNamed("global", &last))
		own, plain := w.open(mx.WithErrorHandler(handlerNamed("own", &last))), w.open()
		for ep, want := range map[*mx.Endpoint]string{own: "own", plain: "global"} {
			_, err := ep.Irecv(nil, 1, 0, nil)
			refused(w, err, mx.ErrBadMatchMask)
			if last != want {
				w.Errorf("the %s handler was called, want the %s one", last, want)
			}
		}
		nic, _ := place(w, own)
		last = ""
		_, err := own.Connect(nic, mx.MaxEndpoints, 0, bound)
		refused(w, err, mx.ErrBadEndpointID)
		if last != "own" {
			w.Errorf("%q was called", last)
		}
	})
}

// TestXIEndpointsHandlerHearsOfItsOwn: also where the call is a function of the package, and where the endpoint never
// came to be, wherever its handler stands among the parameters.
func TestXIEndpointsHandlerHearsOfItsOwn(t *testing.T) {
	over(t, func(w *world) {
		var last string
		setHandler(w, handlerNamed("global", &last))
		own := mx.WithErrorHandler(handlerNamed("own", &last))
		ep := w.open(own)
		for name, call := range map[string]func() error{
			"bad key":        func() error { return mx.GetInfo(ep, 1000, 0, new(uint32)) },
			"bad type":       func() error { return mx.GetInfo(ep, mx.CountersValues, 0, new(string)) },
			"unknown board":  func() error { return mx.GetInfo(ep, mx.SerialNumber, 300, new(uint32)) },
			"bad parameter":  func() error { _, err := w.tryOpen(mx.AnyEndpoint, own, mx.WithSpin(-1)); return err },
			"handler behind": func() error { _, err := w.tryOpen(mx.AnyEndpoint, mx.WithSpin(-1), own); return err },
			"unknown name":   func() error { _, err := w.tryOpen(mx.AnyEndpoint, own, mx.Param{Key: 99}); return err },
			"bad id":         func() error { _, err := w.tryOpen(mx.MaxEndpoints, own); return err },
		} {
			last = ""
			if err := call(); err == nil || last != "own" {
				w.Errorf("%s: %q was called for %v", name, last, err)
			}
		}
		last = ""
		if err := mx.GetInfo(nil, 1000, 0, new(uint32)); err == nil || last != "global" {
			w.Errorf("without an endpoint %q was called", last)
		}
	})
}

func TestXIHandlerOfAnEndpointBeforeInit(t *testing.T) {
	var last string
	setHandler(t, handlerNamed("global", &last))
	_, err := mx.OpenEndpoint(0, 0, 0, mx.WithErrorHandler(handlerNamed("own", &last)))
	refused(t, err, mx.ErrNotInitialized)
	if last != "own" {
		t.Errorf("%q was called", last)
	}
}

// TestXIEndOfAWaitCallsNoHandler: that a context has ended, or somebody has called Wakeup, is what the program wanted.
func TestXIEndOfAWaitCallsNoHandler(t *testing.T) {
	over(t, func(w *world) {
		ep := w.open(mx.WithErrorHandler(func(err *mx.Error) error {
			if err.Op != "close endpoint" { // which the end of the test does once more
				w.Errorf("the handler was called: %v", err)
			}
			return err
		}))
		reqs := []mx.Request{w.irecv(ep, nil, 1, exact)}
		nic, id := place(w, silent(w))
		calls := map[string]func(ctx context.Context) (bool, error){
			"WaitContext": func(ctx context.Context) (bool, error) {
				_, err := ep.WaitContext(ctx, reqs[0])
				return err == nil, err
			},
			"PeekContext": func(ctx context.Context) (bool, error) { _, ok, err := ep.PeekContext(ctx); return ok, err },
			"WaitAnyContext": func(ctx context.Context) (bool, error) {
				_, ok, err := ep.WaitAnyContext(ctx, 0, everything)
				return ok, err
			},
			"ProbeContext": func(ctx context.Context) (bool, error) {
				_, ok, err := ep.ProbeContext(ctx, 0, everything)
				return ok, err
			},
			"Claim": func(ctx context.Context) (bool, error) {
				_, _, ok, err := ep.Claim(ctx, mx.Infinite, 0, everything)
				return ok, err
			},
			"WaitFirst": func(ctx context.Context) (bool, error) {
				_, ok, err := ep.WaitFirst(ctx, reqs, mx.Infinite)
				return ok, err
			},
			"WaitAll": func(ctx context.Context) (bool, error) { return ep.WaitAll(ctx, reqs, nil, mx.Infinite) },
			"WaitSome": func(ctx context.Context) (bool, error) {
				n, err := ep.WaitSome(ctx, reqs, make([]mx.Completion, 1), mx.Infinite)
				return n > 0, err
			},
			"ConnectContext": func(ctx context.Context) (bool, error) {
				_, err := ep.ConnectContext(ctx, nic, id, testFilter)
				return err == nil, err
			},
			"Completions": func(ctx context.Context) (bool, error) {
				for range ep.Completions(ctx, 0, everything) {
					return true, nil
				}
				return false, ctx.Err()
			},
		}
		for name, call := range calls {
			ctx, cancel := context.WithCancel(context.Background())
			running := start(func() (bool, error) { return call(ctx) })
			cancel()
			if o := receive(w, name, running); o.ok || !errors.Is(o.err, context.Canceled) {
				w.Errorf("%s: %v, %v", name, o.ok, o.err)
			}
		}
		woken := start(func() (bool, error) { return calls["WaitContext"](context.Background()) })
		if o := wakeUntil(w, ep, woken); !errors.Is(o.err, mx.ErrTimeout) {
			w.Errorf("woken: %v", o.err)
		}
		closed := start(func() (bool, error) { return calls["Completions"](context.Background()) })
		shut(w, ep)
		if o := receive(w, "Completions", closed); o.ok || o.err != nil {
			w.Errorf("closed: %v, %v", o.ok, o.err)
		}
	})
}

// TestXIBadMaskOfCompletionsIsHeardOf: what an iteration can't return goes to the handler at least.
func TestXIBadMaskOfCompletionsIsHeardOf(t *testing.T) {
	over(t, func(w *world) {
		var last string
		ep := w.open(mx.WithErrorHandler(handlerNamed("own", &last)))
		for range ep.Completions(context.Background(), 1, 0) {
			w.Fatal("a completion")
		}
		if last != "own" {
			w.Error("the handler was not called")
		}
	})
}

func TestXIOutcomeOfARequestCallsNoHandler(t *testing.T) {
	over(t, func(w *world) {
		var last string
		setHandler(w, handlerNamed("global", &last))
		a, b, toB, _ := w.pair()
		recv := w.irecv(b, nil, 1, exact)
		w.isend(a, []byte("too long"), toB, 1)
		if st := w.done(b, recv); st.Code != mx.StatusTruncated {
			w.Error(st.Code)
		}
		large := w.isend(a, make([]byte, 200_000), toB, 2)
		if err := a.Disconnect(toB); err != nil {
			w.Fatal(err)
		}
		if st := w.done(a, large); st.Code == mx.StatusSuccess {
			w.Error(st.Code)
		}
		if last != "" {
			w.Error("the handler was called")
		}
	})
}

// TestFatalChild is the process that TestXIErrorsAreFatal starts.
func TestFatalChild(t *testing.T) {
	if os.Getenv("MX_TEST_FATAL") == "" {
		t.Skip("serves TestXIErrorsAreFatal")
	}
	if os.Getenv("MX_TEST_FATAL") == "own" {
		mx.SetErrorHandler(mx.ErrorsReturn)
	}
	_ = mx.Init()
	_, _ = mx.OpenEndpoint(300, 0, 0)
	os.Exit(0)
}

func TestXIErrorsAreFatal(t *testing.T) {
	out, err := fatalChild("1")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("%v", err)
	}
	for _, part := range []string{"mx: open endpoint", "300", "no such board"} {
		if !strings.Contains(string(out), part) {
			t.Errorf("output %q does not name %q", out, part)
		}
	}
}

// fatalChild runs TestFatalChild with MX_ERRORS_ARE_FATAL.
func fatalChild(how string) (out []byte, err error) {
	child := exec.Command(os.Args[0], "-test.run=^TestFatalChild$")
	child.Env = append(os.Environ(), "MX_TEST_FATAL="+how, "MX_ERRORS_ARE_FATAL=1")
	return child.CombinedOutput()
}

// TestXIHandlerSetBeforeInitStays: the environment is for programs that have set none.
func TestXIHandlerSetBeforeInitStays(t *testing.T) {
	if out, err := fatalChild("own"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
