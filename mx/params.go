package mx

import (
	"crypto/tls"
	"fmt"
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
	ParamUnattended
	ParamUnexpHeaders
	ParamUnexpReserve
	ParamStrangers
	ParamPiecesBytes
)

// Param is a parameter of OpenEndpoint. Make one with WithErrorHandler,
// WithUnexpQueueMax and so on.
type Param struct {
	Key   ParamKey
	Value any
}

// WithErrorHandler sets the endpoint's own error handler (XI). Without one the
// handler of SetErrorHandler is called.
func WithErrorHandler(h ErrorHandler) Param { return Param{ParamErrorHandler, h} }

// WithUnexpQueueMax bounds the memory of unexpected messages, in bytes (II.5).
// It is shared by all peers, beside the reserve of each. The messages of a sender for
// which there is no room stay with it, and only their headers travel.
func WithUnexpQueueMax(bytes int) Param { return Param{ParamUnexpQueueMax, bytes} }

// WithUnexpHeaders bounds the headers of unexpected messages whose bytes are with their
// senders. Beyond it sends wait; nothing is dropped. Each takes up to 224 bytes.
func WithUnexpHeaders(headers int) Param { return Param{ParamUnexpHeaders, headers} }

// WithUnexpReserve sets what each peer may send, in bytes of unexpected messages, however
// much others have.
func WithUnexpReserve(bytes int) Param { return Param{ParamUnexpReserve, bytes} }

// WithContextID says which bits of the match information are a context id, up
// to ContextIDBitsMax of them from bit shift on. Every receive must then name
// them in its mask, or fail with ErrBadMatchingForCtxID.
func WithContextID(bits, shift uint8) Param { return Param{ParamContextID, [2]uint8{bits, shift}} }

// WithCopyLimit sets the largest message, in bytes, that the endpoint takes
// eagerly from its peers (II.5). Of larger ones only the header travels until
// they are matched.
func WithCopyLimit(bytes int) Param { return Param{ParamCopyLimit, bytes} }

// WithEagerLimit sets the largest message, in bytes, that the endpoint sends
// eagerly. Messages below 1 KiB always travel with their data, and one frame of
// the transport bounds it from above; -1 is what the transport advises.
func WithEagerLimit(bytes int) Param { return Param{ParamEagerLimit, bytes} }

// SingleThreaded promises that one goroutine at a time calls the endpoint; what makes, tests and waits for requests is
// faster then. Close, Wakeup, Pending, Counters, Peers, DisableProgression, ReenableProgression, registration of memory
// and the functions of addresses may come from any goroutine all the same, and between calls the endpoint progresses as always. The promise ends
// with Endpoint.Share and with RegisterUnexpHandler, whose handler runs in any goroutine.
func SingleThreaded() Param { return Param{ParamSingleThreaded, true} }

// WithTransports chooses the transports by name, in order of preference:
// "shm", "rdma", "tcp", "mem", "self".
func WithTransports(names ...string) Param { return Param{ParamTransports, names} }

// WithSpin sets the longest time that a waiting call spins before it sleeps.
// 0 sleeps at once.
func WithSpin(d time.Duration) Param { return Param{ParamSpin, d} }

// WithRequestTimeout sets the timeout of requests until SetRequestTimeout
// changes it (XII.1.2).
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

// WithConnectTimeout sets the time that one address of a peer has to answer.
func WithConnectTimeout(d time.Duration) Param { return Param{ParamConnectTimeout, d} }

// WithStrangers bounds the links of those who have dialled the endpoint and are not
// connected yet. The oldest is given up for a new one.
func WithStrangers(n int) Param { return Param{ParamStrangers, n} }

// WithPiecesBytes bounds the memory of messages that peers send again in pieces after
// their link has broken, in bytes.
func WithPiecesBytes(bytes int) Param { return Param{ParamPiecesBytes, bytes} }

// WithUnattended has f called when requests have completed while no one has called the endpoint for some
// milliseconds, so that a layer above can go on with what follows from them while its program does something else.
// It is called from a goroutine of the endpoint's own, one at a time, may call the endpoint but not
// close it, and should not block. An endpoint whose PollFD is armed calls nothing.
// It takes back SingleThreaded.
func WithUnattended(f func()) Param { return Param{ParamUnattended, f} }

// settings is what an endpoint is opened with: the environment, then the
// parameters.
type settings struct {
	environment
	filter            uint32
	onError           ErrorHandler
	single            bool
	unattended        func()
	ctxBits, ctxShift uint8
}

func (s *settings) apply(params []Param) error {
	for _, p := range params {
		ok, known := s.set(p)
		if !known {
			return fmt.Errorf("%w: key %d", ErrBadParamName, p.Key)
		}
		if !ok {
			return fmt.Errorf("%w: key %d, value %v", ErrBadParamVal, p.Key, p.shown())
		}
	}
	return nil
}

// shown is the value as errors may name it.
func (p Param) shown() any {
	if p.Key == ParamSecret || p.Key == ParamTLS {
		return fmt.Sprintf("of type %T", p.Value)
	}
	return p.Value
}

// set applies one parameter, and reports whether its value and its key are good.
func (s *settings) set(p Param) (ok, known bool) {
	switch p.Key {
	case ParamErrorHandler:
		s.onError, ok = p.Value.(ErrorHandler)
		ok = ok && s.onError != nil
	case ParamUnexpQueueMax:
		s.unexpBytes, ok = number(p.Value, 1)
	case ParamUnexpHeaders:
		s.unexpHeaders, ok = number(p.Value, 1)
	case ParamUnexpReserve:
		s.unexpReserve, ok = number(p.Value, 1)
	case ParamStrangers:
		s.strangers, ok = number(p.Value, 1)
	case ParamPiecesBytes:
		s.pieceBytes, ok = number(p.Value, 1)
	case ParamCopyLimit:
		s.copyLimit, ok = number(p.Value, -1)
	case ParamEagerLimit:
		s.eager, ok = number(p.Value, -1)
	case ParamContextID:
		var v [2]uint8
		v, ok = p.Value.([2]uint8)
		s.ctxBits, s.ctxShift = v[0], v[1]
		ok = ok && v[0] <= ContextIDBitsMax && int(v[0])+int(v[1]) <= 64
	case ParamSingleThreaded:
		s.single, ok = p.Value.(bool)
	case ParamTransports:
		s.transports, ok = p.Value.([]string)
		for _, name := range s.transports {
			_, there := transportTable[name]
			ok = ok && there
		}
	case ParamSpin:
		s.spin, ok = p.Value.(time.Duration)
		ok = ok && s.spin >= 0
	case ParamUnattended:
		s.unattended, ok = p.Value.(func())
		ok = ok && s.unattended != nil
	case ParamRequestTimeout:
		s.timeout, ok = p.Value.(time.Duration)
		ok = ok && s.timeout > 0
	default:
		return s.network.set(p)
	}
	return ok, true
}

// set applies a parameter that is about other hosts.
func (n *network) set(p Param) (ok, known bool) {
	switch p.Key {
	case ParamSecret:
		n.secret, ok = p.Value.([]byte)
		n.secret = slices.Clone(n.secret)
	case ParamTLS:
		n.tls, ok = p.Value.(*tls.Config)
	case ParamKeepAlive:
		n.keepAlive, ok = p.Value.(time.Duration)
		ok = ok && goodKeepAlive(n.keepAlive)
	case ParamConnectTimeout:
		n.connectTimeout, ok = p.Value.(time.Duration)
		ok = ok && n.connectTimeout > 0
	default:
		return false, false
	}
	return ok, true
}

func number(v any, least int) (int, bool) {
	n, ok := v.(int)
	return n, ok && n >= least && int64(n) <= 1<<40
}
