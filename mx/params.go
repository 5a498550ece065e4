package mx

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// ParamKey names a parameter of OpenEndpoint. The first three numbers are those
// of MX's headers.
type ParamKey uint32

// The parameters (III.3.1); each has a function that makes it.
const (
	ParamErrorHandler ParamKey = iota
	ParamUnexpQueueMax
	ParamContextID
	ParamCopyLimit
	ParamEagerLimit
	ParamSingleThreaded
	ParamTransports
	ParamSpin
	ParamRequestTimeout
	ParamSecret
	ParamTLS
	ParamKeepAlive
	ParamConnectTimeout
	ParamUnexpHeaders
	ParamUnexpReserve
	ParamStrangers
	ParamPiecesBytes
	ParamClasses
	ParamLogger
	ParamTrace
	ParamContexts
	ParamSendLevel
	ParamPassive
	ParamBacklog
	ParamAnswerTimeout
)

// paramNames are the functions that make the parameters.
var paramNames = [...]string{
	ParamErrorHandler:   "WithErrorHandler",
	ParamUnexpQueueMax:  "WithUnexpQueueMax",
	ParamContextID:      "WithContextID",
	ParamCopyLimit:      "WithCopyLimit",
	ParamEagerLimit:     "WithEagerLimit",
	ParamSingleThreaded: "SingleThreaded",
	ParamTransports:     "WithTransports",
	ParamSpin:           "WithSpin",
	ParamRequestTimeout: "WithRequestTimeout",
	ParamSecret:         "WithSecret",
	ParamTLS:            "WithTLS",
	ParamKeepAlive:      "WithKeepAlive",
	ParamConnectTimeout: "WithConnectTimeout",
	ParamUnexpHeaders:   "WithUnexpHeaders",
	ParamUnexpReserve:   "WithUnexpReserve",
	ParamStrangers:      "WithStrangers",
	ParamPiecesBytes:    "WithPiecesBytes",
	ParamClasses:        "WithClasses",
	ParamLogger:         "WithLogger",
	ParamTrace:          "WithTrace",
	ParamContexts:       "WithContexts",
	ParamSendLevel:      "WithSendLevel",
	ParamPassive:        "Passive",
	ParamBacklog:        "WithBacklog",
	ParamAnswerTimeout:  "WithAnswerTimeout",
}

// String returns the name of the function that makes the parameter, as errors have it.
func (k ParamKey) String() string {
	if int64(k) < int64(len(paramNames)) {
		return paramNames[k]
	}
	return fmt.Sprintf("key %d", uint32(k))
}

// Param is a parameter of OpenEndpoint. Make one with WithErrorHandler,
// WithUnexpQueueMax and so on.
type Param struct {
	Key   ParamKey
	Value any
}

// WithErrorHandler sets the endpoint's own error handler (XI), which also hears why
// OpenEndpoint fails. Without one the handler of SetErrorHandler is called.
func WithErrorHandler(h ErrorHandler) Param { return Param{ParamErrorHandler, h} }

// WithUnexpQueueMax bounds the memory of unexpected messages, in bytes (II.5).
// It is shared by all peers, beside the reserve of each. The messages of a sender for
// which there is no room stay with it, and only their headers travel; those of up to 64 bytes
// travel whole, and count as headers. From 1 to 1 << 37.
func WithUnexpQueueMax(bytes int) Param { return Param{ParamUnexpQueueMax, bytes} }

// WithUnexpHeaders bounds the headers of unexpected messages whose bytes are with their
// senders, and the short messages that count as headers. Beyond it sends wait; nothing is dropped. Each takes up to 224 bytes. Each
// sender may have 64 in any case. From 1 to 1 << 30.
func WithUnexpHeaders(headers int) Param { return Param{ParamUnexpHeaders, headers} }

// WithUnexpReserve sets what each peer may send, in bytes of unexpected messages, however
// much others have. From 1 to 1 << 31; more than WithUnexpQueueMax counts as that.
func WithUnexpReserve(bytes int) Param { return Param{ParamUnexpReserve, bytes} }

// WithContextID says which bits of the match information are a context id, up
// to ContextIDBitsMax of them from bit shift on. Every receive must then name
// them in its mask, or fail with ErrBadMatchingForCtxID.
func WithContextID(bits, shift uint8) Param { return Param{ParamContextID, [2]uint8{bits, shift}} }

// WithCopyLimit sets the largest message, in bytes, that the endpoint takes
// eagerly from its peers (II.5). Of larger ones only the header travels until
// they are matched. From 0 to MaxMessage, or -1 for no limit.
func WithCopyLimit(bytes int) Param { return Param{ParamCopyLimit, bytes} }

// WithEagerLimit sets the largest message, in bytes, that the endpoint sends
// eagerly. Messages below 1 KiB always travel with their data, and one frame of
// the transport bounds it from above. From 0 to MaxMessage, or -1 for what the
// transport advises.
func WithEagerLimit(bytes int) Param { return Param{ParamEagerLimit, bytes} }

// SingleThreaded promises that one goroutine at a time makes calls on the endpoint. Calls that make, test and wait for
// requests then take the endpoint lock with a store-release, as without the promise only a goroutine does that has called alone for a
// while. Close, EagerTo, GiveUp, Wakeup, Pending,
// Counters, Peers, DisableProgression, ReenableProgression, registration of memory and the functions of addresses may
// still be called from any goroutine, and the endpoint makes progress between calls as usual. Calls on its queues, counters, triggers,
// listeners and windows are calls on the endpoint. A call that detects a
// concurrent one panics with the name of the promise, and the race detector sees both. Endpoint.Share disables this
// mode, and so does RegisterUnexpHandler, since its handler runs in any goroutine.
func SingleThreaded() Param { return Param{ParamSingleThreaded, true} }

// WithTransports chooses the transports by name, in order of preference:
// "shm", "rdma", "tcp", "mem", "self". It takes one or more, each once; who wants
// those of MX_TRANSPORT leaves it out.
func WithTransports(names ...string) Param { return Param{ParamTransports, names} }

// WithSpin sets the longest time that a waiting call spins before it sleeps.
// 0 sleeps at once. It can't be negative.
func WithSpin(d time.Duration) Param { return Param{ParamSpin, d} }

// WithRequestTimeout sets the timeout of requests until SetRequestTimeout
// changes it (XII.1.2). At least a millisecond.
func WithRequestTimeout(d time.Duration) Param { return Param{ParamRequestTimeout, d} }

// WithSecret sets the secret that all peers on other hosts must know; it should
// be long and random. An empty one is none.
func WithSecret(secret []byte) Param { return Param{ParamSecret, secret} }

// WithTLS has connections to other hosts run TLS 1.3. Both sides show a
// certificate, which the other's RootCAs must vouch for. nil means no TLS.
func WithTLS(config *tls.Config) Param { return Param{ParamTLS, config} }

// WithKeepAlive sets the time after which a host that has vanished is noticed,
// from 3 seconds to an hour.
func WithKeepAlive(d time.Duration) Param { return Param{ParamKeepAlive, d} }

// WithConnectTimeout sets the time that one address of a peer has to answer. It is
// above 0.
func WithConnectTimeout(d time.Duration) Param { return Param{ParamConnectTimeout, d} }

// WithStrangers bounds the links of those who have dialled the endpoint and are not
// connected yet. The oldest is given up for a new one. From 1 to 1 << 20.
func WithStrangers(n int) Param { return Param{ParamStrangers, n} }

// WithPiecesBytes limits the memory of messages that peers retransmit in pieces after their link has broken, in bytes. From 1
// to 1 << 37; one such message at a time is accepted in any case.
func WithPiecesBytes(bytes int) Param { return Param{ParamPiecesBytes, bytes} }

// WithClasses has messages counted by class: by the bits of their match information from bit shift on, from 1 to 63.
// Endpoint.Tallies returns the counts.
func WithClasses(shift uint8) Param { return Param{ParamClasses, shift} }

// WithLogger has the endpoint log what happens to its peers: connects, links that break, sessions that resume or end, fallbacks,
// refusals, and sends that wait for their receiver. The handler is called in a goroutine of its own, may take its time, and may call the endpoint;
// what comes while it is far behind is counted and dropped. nil logs nothing, whatever MX_LOG says.
func WithLogger(l *slog.Logger) Param { return Param{ParamLogger, l} }

// WithTrace has the endpoint leave a trace of its messages in a folder, for mx_trace: a file that nobody else has, of as many bytes as
// MX_TRACE_BYTES says and 68 KiB more. "" leaves none, whatever MX_TRACE says. OpenEndpoint fails where the file can't be made. docs/tracing.md says what is in it.
func WithTrace(folder string) Param { return Param{ParamTrace, folder} }

// Passive has the endpoint begin no session that a peer asks for until the program has accepted it, from the moment on when it is
// open: connection requests wait for Endpoint.Listen or Endpoint.Admit.
func Passive() Param { return Param{ParamPassive, true} }

// WithBacklog bounds the connection requests that wait for the program's answer. Further ones are refused with StatusBacklogFull. For a
// function that decides at once, see Endpoint.Admit, WithStrangers is the bound if it is more. From 1 to 1 << 16; each takes up to 2 KiB, and so does each of as many refusals that are remembered.
func WithBacklog(n int) Param { return Param{ParamBacklog, n} }

// WithAnswerTimeout sets how long a connection request waits for the program's answer before it is refused with StatusNotAnswered. At least
// a millisecond.
func WithAnswerTimeout(d time.Duration) Param { return Param{ParamAnswerTimeout, d} }

// settings is what an endpoint is opened with: the environment, then the
// parameters.
type settings struct {
	environment
	filter            uint32
	onError           ErrorHandler
	single, passive   bool
	ctxBits, ctxShift uint8
	classShift        uint8
	contexts          contextNames
	group             *contexts // of which the endpoint is one, at index; nil: it has no others
	index             int
	level             SendLevel
}

// apply sets what can be set, so that the error handler is known whatever else is wrong, and returns the first error.
func (s *settings) apply(params []Param) (first error) {
	for _, p := range params {
		err := s.set(p)
		switch {
		case err == nil || first != nil:
		case err == ErrBadParamName:
			first = fmt.Errorf("%w: %v", err, p.Key)
		default:
			first = fmt.Errorf("%w: %w", ErrBadParamVal, p.refused(err))
		}
	}
	return first
}

// shown is the value as errors may name it.
func (p Param) shown() any {
	if p.Key == ParamSecret || p.Key == ParamTLS {
		return fmt.Sprintf("a %T", p.Value)
	}
	return p.Value
}

// refused says which parameter is wrong, and why.
func (p Param) refused(why error) error {
	if p == (Param{}) { // ParamErrorHandler is MX's number 0
		return errors.New("an empty Param, which no function of mx has made: leave it out of the list")
	}
	return fmt.Errorf("%v(%v): %w", p.Key, p.shown(), why)
}

// set applies one parameter, and returns ErrBadParamName, or what its value must be.
func (s *settings) set(p Param) error {
	switch p.Key {
	case ParamErrorHandler:
		return take(&s.onError, p.Value, checkHandler)
	case ParamUnexpQueueMax:
		return take(&s.unexpBytes, p.Value, unexpBytesSpan.check)
	case ParamUnexpHeaders:
		return take(&s.unexpHeaders, p.Value, unexpHeadersSpan.check)
	case ParamUnexpReserve:
		return take(&s.unexpReserve, p.Value, unexpReserveSpan.check)
	case ParamStrangers:
		return take(&s.strangers, p.Value, strangersSpan.check)
	case ParamPassive:
		return take(&s.passive, p.Value, anything)
	case ParamBacklog:
		return take(&s.backlog, p.Value, backlogSpan.check)
	case ParamAnswerTimeout:
		return take(&s.answerTimeout, p.Value, checkRequestTimeout)
	case ParamPiecesBytes:
		return take(&s.pieceBytes, p.Value, piecesSpan.check)
	case ParamCopyLimit:
		return take(&s.copyLimit, p.Value, messageSpan.check)
	case ParamEagerLimit:
		return take(&s.eager, p.Value, messageSpan.check)
	case ParamContextID:
		var v [2]uint8
		err := take(&v, p.Value, checkContextID)
		s.ctxBits, s.ctxShift = v[0], v[1]
		return err
	case ParamLogger:
		return take(&s.logger, p.Value, anything)
	case ParamTrace:
		return take(&s.trace.folder, p.Value, checkTrace)
	case ParamClasses:
		return take(&s.classShift, p.Value, checkClasses)
	case ParamContexts:
		return take(&s.contexts, p.Value, checkContexts)
	case ParamSendLevel:
		return take(&s.level, p.Value, checkSendLevel)
	case ParamSingleThreaded:
		return take(&s.single, p.Value, anything)
	case ParamTransports:
		return take(&s.transports, p.Value, checkTransports)
	case ParamSpin:
		return take(&s.spin, p.Value, checkSpin)
	case ParamRequestTimeout:
		return take(&s.timeout, p.Value, checkRequestTimeout)
	}
	return s.network.set(p)
}

// set applies a parameter that is about other hosts.
func (n *network) set(p Param) error {
	switch p.Key {
	case ParamSecret:
		err := take(&n.secret, p.Value, anything)
		n.secret = slices.Clone(n.secret)
		return err
	case ParamTLS:
		return take(&n.tls, p.Value, anything)
	case ParamKeepAlive:
		return take(&n.keepAlive, p.Value, checkKeepAlive)
	case ParamConnectTimeout:
		return take(&n.connectTimeout, p.Value, checkConnectTimeout)
	}
	return ErrBadParamName
}

// take sets a field to a value of its type that the check lets pass.
func take[T any](to *T, value any, check func(T) error) error {
	v, ok := value.(T)
	if !ok {
		return fmt.Errorf("want a value of type %T", v)
	}
	if err := check(v); err != nil {
		return err
	}
	*to = v
	return nil
}
