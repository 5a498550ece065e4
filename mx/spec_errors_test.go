package mx_test

import (
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
	for c := range mx.StatusCode(19) {
		text := mx.Strstatus(c)
		if other, twice := seen[text]; text == "" || twice || strings.Contains(text, "unknown status") {
			t.Errorf("status %d: %q, as %d", uint8(c), text, uint8(other))
		}
		seen[text] = c
		if c.String() != text || c.Error() != text {
			t.Errorf("status %d: %q, %q", uint8(c), c.String(), c.Error())
		}
	}
	for _, c := range []mx.StatusCode{19, 100, 255} {
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
	if last != "second" {
		t.Errorf("%s was called", last)
	}
	if got := mx.SetErrorHandler(nil)(&mx.Error{Code: mx.ErrBusy}); !errors.Is(got, mx.ErrBusy) || last != "second" {
		t.Error(got, last)
	}
	last = ""
	refused(t, mx.Init(), mx.ErrAlreadyInitialized)
	if last != "" {
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
	_ = mx.Init()
	_, _ = mx.OpenEndpoint(300, 0, 0)
	os.Exit(0)
}

func TestXIErrorsAreFatal(t *testing.T) {
	child := exec.Command(os.Args[0], "-test.run=^TestFatalChild$")
	child.Env = append(os.Environ(), "MX_TEST_FATAL=1", "MX_ERRORS_ARE_FATAL=1")
	out, err := child.CombinedOutput()
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
