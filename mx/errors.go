package mx

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/internal/ended"
	"gomx/transport"
	"gomx/transport/nic"
)

// Error is what calls return: the operation, the code, and whom it was about.
// errors.Is works with the ReturnCode and with the cause.
type Error struct {
	Op       string     // "connect", "isend", ...
	Code     ReturnCode // what the manual calls the return code
	Endpoint string     // the local endpoint, if there is one: "host:0/3"
	Peer     string     // the peer, if there is one
	Cause    error      // what lies behind, or nil
}

// Error names all there is.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("mx: ")
	b.WriteString(e.Op)
	if e.Peer != "" {
		fmt.Fprintf(&b, " %s", e.Peer)
	}
	if e.Endpoint != "" {
		fmt.Fprintf(&b, " (endpoint %s)", e.Endpoint)
	}
	text, cause := e.Code.Error(), words(e.Cause)
	if _, all := e.Cause.(*instead); all || strings.HasPrefix(cause+":", text+":") { // it begins with the code itself
		text = cause
	} else if cause != "" {
		text += ": " + cause
	}
	b.WriteString(": " + text)
	return b.String()
}

// instead is a cause whose words stand in the place of those of the code, which don't fit the case.
type instead struct {
	text  string
	cause error // or nil
}

func (i *instead) Error() string { return i.text }

// Unwrap returns the cause.
func (i *instead) Unwrap() error { return i.cause }

// withStatus is a cause that wraps a status, too, which its words don't name.
type withStatus struct {
	error
	status StatusCode
}

// Unwrap returns both.
func (w *withStatus) Unwrap() []error { return []error{w.error, w.status} }

// Unwrap returns the code and the cause.
func (e *Error) Unwrap() []error {
	if e.Cause == nil {
		return []error{e.Code}
	}
	return []error{e.Code, e.Cause}
}

// ErrorHandler is called when a call fails (XI). What it returns becomes the
// error of the call. The outcome of a request is its status, and never comes
// here; neither does the end of a wait that the program wanted: its context has
// ended, or Wakeup has ended a WaitContext.
type ErrorHandler func(err *Error) error

// ErrorsReturn is the handler that hands every error back to the caller. It is
// the one in force until another is set, or MX_ERRORS_ARE_FATAL says otherwise.
func ErrorsReturn(err *Error) error { return err }

// ErrorsAreFatal is the handler that prints the error and ends the process with
// exit code 1, as MX does by default.
func ErrorsAreFatal(err *Error) error {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
	return err
}

// globalHandler is what the program has set, if it has, and environmentsHandler what
// Init found in the environment.
var globalHandler, environmentsHandler atomic.Pointer[ErrorHandler]

// SetErrorHandler sets the handler for all endpoints that were not opened with
// one of their own, and returns the previous one (XI). nil stands for
// ErrorsReturn. What a program has set holds whatever MX_ERRORS_ARE_FATAL says. It may
// be called before Init, and from any goroutine.
func SetErrorHandler(h ErrorHandler) (previous ErrorHandler) {
	if h == nil {
		h = ErrorsReturn
	}
	return orEnvironments(globalHandler.Swap(&h))
}

// orEnvironments is the handler in force where the program has set this one, or none.
func orEnvironments(set *ErrorHandler) ErrorHandler {
	if set == nil {
		set = environmentsHandler.Load()
	}
	if set == nil {
		return ErrorsReturn
	}
	return *set
}

// fail makes the error of a call and runs it through the handler.
func fail(op string, code ReturnCode, peer string, cause error) error {
	return handle(nil, &Error{Op: op, Code: code, Peer: peer, Cause: cause})
}

func handle(own ErrorHandler, err *Error) error {
	if own == nil {
		own = orEnvironments(globalHandler.Load())
	}
	return own(err)
}

// fail makes the error of a call on the endpoint.
func (ep *Endpoint) fail(op string, peer string, err error) error {
	if err == nil {
		return nil
	}
	return handle(ep.onError, ep.newError(op, peer, err))
}

// failWait is fail for a call that waits until ctx ends. That it has ended is what the
// program wanted, and no handler is asked.
func (ep *Endpoint) failWait(ctx context.Context, op string, err error) error {
	if ended.By(ctx, err) {
		return ep.newError(op, "", err)
	}
	return ep.fail(op, "", err)
}

func (ep *Endpoint) newError(op string, peer string, err error) *Error {
	e := &Error{Op: op, Code: codeOf(err), Endpoint: ep.String(), Peer: peer}
	if _, same := err.(ReturnCode); !same && !isPlain(err) {
		e.Cause = err
	}
	return e
}

// isPlain reports whether an error says no more than its code.
func isPlain(err error) bool {
	n, engine := err.(endpoint.Errno)
	return engine && n != endpoint.ErrBadSegMem || err == driver.ErrClosed || err == driver.ErrInHandler
}

var engineCodes = map[endpoint.Errno]ReturnCode{
	endpoint.ErrBadRequest:     ErrBadRequest,
	endpoint.ErrBadSegCount:    ErrBadSegCount,
	endpoint.ErrBadSegMem:      ErrBadSegMem,
	endpoint.ErrBadMask:        ErrBadMatchMask,
	endpoint.ErrBadAddress:     ErrBadAddrList,
	endpoint.ErrCancelSend:     ErrCancelNotSupported,
	endpoint.ErrBadContextMask: ErrBadMatchingForCtxID,
	endpoint.ErrNoResources:    ErrNoResources,
	endpoint.ErrBadParam:       ErrBadParamVal,
}

// codeOf finds the return code for an error from below.
func codeOf(err error) ReturnCode {
	var code ReturnCode
	var engine endpoint.Errno
	var option *transport.OptionError
	switch {
	case errors.As(err, &code):
		return code
	case errors.As(err, &engine):
		return engineCodes[engine]
	case errors.Is(err, driver.ErrClosed):
		return ErrBadEndpoint
	case errors.Is(err, driver.ErrInHandler):
		return ErrCloseInHandler
	case errors.Is(err, transport.ErrBusy):
		return ErrBusy
	case errors.As(err, &option):
		return ErrBadParamVal
	case errors.Is(err, transport.ErrNoDescriptors):
		return ErrNoResources
	case errors.Is(err, transport.ErrUnsupported):
		return ErrNoDriver
	case errors.Is(err, nic.ErrHostNotFound):
		return ErrHostNotFound
	case errors.Is(err, nic.ErrBoardUnknown):
		return ErrBoardUnknown
	case errors.Is(err, os.ErrPermission):
		return ErrNoPerm
	}
	return ErrFailure
}
