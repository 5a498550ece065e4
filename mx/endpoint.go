package mx

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/mx/internal/tracefile"
	"gomx/transport"
	"gomx/transport/nic"
)

// Wildcards and limits.
const (
	AnyNIC      uint32 = 0xffffffff // OpenEndpoint: any board
	AnyEndpoint uint32 = 0xffffffff // OpenEndpoint: any free endpoint id

	MaxEndpoints     = 4096      // endpoint ids of a board are 0 to MaxEndpoints-1
	MaxSegments      = 256       // segments of a send or receive
	MaxMessage       = 1<<32 - 1 // bytes of a message
	MaxHostnameLen   = 80        // bytes of a host name, with the NUL that C needs
	MaxStrLen        = 128       // bytes of a string information value
	ContextIDBitsMax = 16

	// MatchMaskNone is the mask under which every bit counts.
	MatchMaskNone = ^uint64(0)

	// Infinite as a timeout means for ever; a timeout of 0 polls once.
	Infinite = time.Duration(1<<63 - 1)
)

// Endpoint is an open endpoint (II.2). Its methods may be called from any number
// of goroutines, unless it was opened with SingleThreaded.
type Endpoint struct {
	d       *driver.Endpoint
	options endpoint.SendOptions // of Isend
	board   nic.Board
	id      uint32
	filter  uint32
	onError ErrorHandler
	dir     *nic.Directory
	names   []string // of its transports
	not     error    // why one that its board is made for is not among them
	far     bool     // one of them reaches other hosts
	self    endpoint.Addr
	opened  time.Time

	group     *contexts // of which it is one; nil: it has no others
	index     int       // among them
	abroad    abroad
	admission admission

	log      *eventLog // nil: nothing is logged
	stats    statistics
	trace    *tracefile.Writer // nil: nothing is traced
	statsEnd chan struct{}     // closed when the endpoint has
}

// OpenEndpoint opens an endpoint (III.3.1): on a board, or with AnyNIC on board 0,
// which is where peers look that know no more than the name of this host; with an
// id below MaxEndpoints, or AnyEndpoint for a free one, which is a small one
// if few are taken. Within a process an id
// of a board is that of one endpoint, whatever the transports. Peers that connect
// must know the filter.
//
// Errors: ErrNotInitialized, ErrBoardUnknown, ErrBadEndpointID, ErrBusy (the id
// is taken, or all are), ErrBadParamName, ErrBadParamVal, ErrNoDriver,
// ErrNoResources. Safe from any goroutine.
func OpenEndpoint(board, id, filter uint32, params ...Param) (*Endpoint, error) {
	lib.mu.Lock()
	up, dir, env := lib.up, lib.dir, lib.env
	lib.mu.Unlock()
	s := settings{environment: env, filter: filter}
	err := s.apply(params)
	if !up {
		return nil, handle(s.onError, &Error{Op: "open endpoint", Code: ErrNotInitialized})
	}
	var ep *Endpoint
	if err == nil {
		ep, err = openFirst(dir, board, id, &s)
	}
	if err != nil {
		err = transport.Shortage(err)
		code := codeOf(err)
		if code == ErrFailure {
			code = ErrNoResources
		}
		return nil, handle(s.onError, &Error{Op: "open endpoint", Code: code, Cause: err})
	}
	lib.mu.Lock()
	for i := range ep.Contexts() {
		lib.open[ep.ownContext(i)] = struct{}{}
	}
	lib.live.begin(&lib.env)
	lib.mu.Unlock()
	return ep, nil
}

// openFirst opens the id, or the first one that is free.
func openFirst(dir *nic.Directory, board, id uint32, s *settings) (*Endpoint, error) {
	if board == AnyNIC {
		board = 0
	}
	b, err := dir.Board(int(board))
	if err != nil {
		return nil, err
	}
	at := &site{env: &s.environment, dir: dir, board: b}
	use := wanted(at)
	if id == AnyEndpoint && s.anyEndpoint >= 0 {
		id = uint32(s.anyEndpoint)
	}
	whichever, last := id == AnyEndpoint, id
	n, several := s.several()
	if several && s.passive {
		return nil, errManyDoors
	}
	if whichever {
		last = MaxEndpoints - n
		if leavesHost(use.names) {
			last = uint32(s.ports) - min(n, uint32(s.ports))
		}
	}
	if err := s.inRange(last+n-1, leavesHost(use.names)); err != nil {
		return nil, err
	}
	if several {
		return use.openSeveral(at, whichever, last, s)
	}
	media, err := use.make(at)
	if err != nil {
		return nil, err
	}
	var ep *Endpoint
	if whichever {
		for id = range anyIDs(last) {
			if ep, err = media.openAlone(id, s); !errors.Is(err, transport.ErrBusy) {
				break
			}
		}
	} else {
		ep, err = media.openAlone(id, s)
	}
	if err == nil {
		return ep, nil
	}
	media.bell.Close()
	return nil, s.taken(err, b.Name, last, 1, whichever)
}

// taken puts an error of ErrBusy into words, which say who has the id. Of an endpoint with contexts there are several in a row.
func (s *settings) taken(err error, board string, last, several uint32, whichever bool) error {
	if !errors.Is(err, transport.ErrBusy) {
		return err
	}
	more := "close some endpoints first"
	if s.ports < MaxEndpoints && last+several == uint32(s.ports) {
		more += ", or give more ports than " + fmt.Sprint(s.ports) + " with MX_PORT_RANGE"
	}
	if whichever && several > 1 {
		return busy(fmt.Sprintf("no %d endpoint ids of %s in a row, of 0 to %d, are free: %s, or open with fewer contexts",
			several, board, last+several-1, more), err)
	}
	if whichever {
		return busy(fmt.Sprintf("all endpoint ids of %s, 0 to %d, are taken by other endpoints or programs: %s", board, last, more), err)
	}
	who := fmt.Sprintf("endpoint %d of %s", last, board)
	if c, ok := errors.AsType[*contextTaken](err); ok {
		who = fmt.Sprintf("%s needs id %d, for context %d, which", who, c.id, c.index)
	}
	port, hasPort := errors.AsType[*transport.PortTakenError](err)
	switch {
	case errors.Is(err, errOpenHere):
		who += " is open in this process already"
	case hasPort:
		who += fmt.Sprintf(" needs port %v, which another endpoint or program has", port.Port)
	default:
		who += " is open in another process"
	}
	if s.anyEndpoint == int(last) {
		return busy(who+": unset MX_ANY_ENDPOINT, so that mx.AnyEndpoint stands for a free id, or choose another id", err)
	}
	return busy(who+": choose another id, or mx.AnyEndpoint for a free one", err)
}

// busy is an ErrBusy in words, without those of the cause.
func busy(text string, cause error) error { return &instead{ErrBusy.Error() + ": " + text, cause} }

// inRange returns why there is no endpoint id.
func (s *settings) inRange(id uint32, ports bool) error {
	switch {
	case id >= MaxEndpoints:
		return fmt.Errorf("%w: %d, ids are below %d", ErrBadEndpointID, id, MaxEndpoints)
	case ports && int64(id) >= int64(s.ports):
		return fmt.Errorf("%w: %d, but ports %d to %d hold ids 0 to %d; choose a lower id, or more ports with MX_PORT_RANGE",
			ErrBadEndpointID, id, s.portBase, s.lastOfPorts(), s.ports-1)
	}
	return nil
}

// openHere holds the addresses of this process's endpoints. Transports see to it that no two of their own users have
// the same, and endpoints that have no transport in common would share one.
var openHere sync.Map // of transport.Address

var errOpenHere = fmt.Errorf("%w: it is open in this process", transport.ErrBusy)

// media is what an endpoint is opened over, at one id after another until one is free.
type media struct {
	*site
	use  choice
	list []transport.Transport
	bell transport.Doorbell
}

// make makes the transports, or those that may do without the useless ones.
func (c choice) make(at *site) (*media, error) {
	list, bell, err := choose(c, at)
	if less, ok := c.without(err); ok {
		return less.make(at)
	}
	if err != nil {
		return nil, err
	}
	return &media{site: at, use: c, list: list, bell: bell}, nil
}

// openAlone opens an endpoint at an address that no other of this process has. Where it fails the media serve for another try.
func (m *media) openAlone(id uint32, s *settings) (*Endpoint, error) {
	place := transport.Address{NIC: uint64(m.board.ID), Endpoint: id}
	if _, taken := openHere.LoadOrStore(place, struct{}{}); taken {
		return nil, errOpenHere
	}
	ep, err := m.open(id, s)
	if less, ok := m.use.without(err); ok {
		var rest *media
		if rest, err = less.make(m.site); err == nil {
			m.bell.Close()
			*m = *rest
			ep, err = m.open(id, s)
		}
	}
	if err != nil {
		openHere.Delete(place)
	}
	return ep, err
}

func (m *media) open(id uint32, s *settings) (*Endpoint, error) {
	b := m.board
	cfg := driver.Config{
		Transports: m.list, Bell: m.bell, SingleThreaded: s.single, Passive: s.passive, Spin: s.spin,
		Engine: endpoint.Config{
			NIC: uint64(b.ID), Endpoint: id, Filter: s.filter, Session: newSession(),
			SelfOverLink: s.noSelf && len(m.list) > 0,
			EagerLimit:   s.eager, CopyLimit: s.copyLimit, UnexpectedBytes: s.unexpBytes,
			UnexpectedHeaders: s.unexpHeaders, UnexpectedReserve: s.unexpReserve,
			Strangers: s.strangers, PieceBytes: s.pieceBytes,
			Backlog: s.backlog, AnswerTimeout: endpoint.Tick(s.answerTimeout / time.Millisecond),
			RequestTimeout: endpoint.Tick(s.timeout / time.Millisecond),
			ContextBits:    s.ctxBits, ContextShift: s.ctxShift,
			ClassShift: s.classShift,
			Contexts:   saidBy(s.group, s.index),
		},
	}
	if s.spin == 0 {
		cfg.Spin = -1
	}
	ep := &Endpoint{options: endpoint.SendOptions{Level: endpoint.Level(s.level)}, board: b, id: id, filter: s.filter, onError: s.onError, dir: m.dir, far: leavesHost(m.use.names), not: m.use.not, opened: time.Now(), group: s.group, index: s.index}
	for _, t := range m.list {
		ep.names = append(ep.names, t.Name())
	}
	if s.logger != nil {
		ep.log = &eventLog{logger: s.logger, ep: ep}
		cfg.Log = ep.log.tell
	}
	var err error
	if ep.d, err = driver.Open(cfg); err != nil {
		return nil, err
	}
	if err = ep.beginTrace(s.trace); err != nil {
		return nil, errors.Join(err, ep.d.Close())
	}
	ep.beginStats(s.stats)
	ep.d.Query(func(e *endpoint.Engine) { ep.self = e.Self() })
	return ep, nil
}

// newSession returns a random session id, different from that of any earlier
// incarnation with all likelihood.
func newSession() uint32 {
	var b [4]byte
	for {
		_, _ = rand.Read(b[:])
		if s := binary.LittleEndian.Uint32(b[:]); s != 0 {
			return s
		}
	}
}

// Close closes the endpoint (III.3.2). Pending requests are released without a
// completion; sends that were reported complete reach their peers first, which Close
// waits for while some of them are taken within a second, and for five seconds at most; and for a handler that runs. What peers send
// meanwhile may still match a pending receive, whose bytes come and whose completion nobody sees, and a synchronous send succeeds by that:
// a program whose peers rely on it cancels its receives first. Blocked calls return. The id can be used again at once. Of an endpoint with several contexts the first one is
// closed, and the others with it.
//
// Errors: ErrBadEndpoint if it is closed already, or another context than the first, ErrCloseInHandler inside a
// handler of its, of unexpected messages or of a Queue. Safe from any goroutine.
func (ep *Endpoint) Close() error {
	if ep.group != nil {
		return ep.closeAll()
	}
	return ep.closeContext()
}

// closeContext closes an endpoint that has no other contexts, or one of these.
func (ep *Endpoint) closeContext() error {
	closed := true // also if a panic of the handler goes on from here
	defer func() {
		if closed {
			ep.leave()
		}
	}()
	err := ep.d.Close()
	closed = !errors.Is(err, driver.ErrClosed) && !errors.Is(err, driver.ErrInHandler)
	return ep.fail("close endpoint", "", err)
}

// leave forgets the endpoint, which has closed.
func (ep *Endpoint) leave() {
	openHere.Delete(transport.Address{NIC: uint64(ep.board.ID), Endpoint: ep.id})
	ep.retire()
	ep.endStats()
	ep.endTrace()
	ep.log.flush()
}

// retire moves the counters of the endpoint to those of its board.
func (ep *Endpoint) retire() {
	lib.mu.Lock()
	defer lib.mu.Unlock()
	delete(lib.open, ep)
	if len(lib.open) == 0 {
		lib.live.end()
	}
	if lib.up {
		lib.retired[uint32(ep.board.Number)] = lib.retired[uint32(ep.board.Number)].add(ep.tally())
	}
}

// Wakeup ends the blocking calls of the moment on the endpoint (III.3.3): they
// return without an error and without a result, Connect with ErrTimeout. A call
// that begins later is not affected. Safe from any goroutine.
func (ep *Endpoint) Wakeup() {
	ep.d.Wakeup()
	ep.abroad.wake()
}

// Share disables single-threaded mode: any number of goroutines may make requests from now on. It must be called by the
// goroutine that has made them, before others do. MX does not have it.
func (ep *Endpoint) Share() { ep.d.Share() }

// TakeTurns says that so many endpoints, this one among them, wait for each other on one core. The core is then offered
// to the others after each poll, whereas a single endpoint treats another process that keeps its core as a stranger,
// and keeps the core too. A number below 2 changes nothing. Package mpi calls it if there are more ranks than cores. MX
// does not have it. Safe from any goroutine.
func (ep *Endpoint) TakeTurns(among int) {
	if among > 1 {
		ep.d.TakeTurns(among)
	}
}

// ID returns the endpoint id.
func (ep *Endpoint) ID() uint32 { return ep.id - uint32(ep.index) }

// Board returns the number of the board that the endpoint is open on.
func (ep *Endpoint) Board() uint32 { return uint32(ep.board.Number) }

// TransportNames returns the names of the transports in use, in order of preference.
func (ep *Endpoint) TransportNames() []string { return append([]string(nil), ep.names...) }

// String returns "host:board/id", and of an endpoint with several contexts "host:board/id.context".
func (ep *Endpoint) String() string { return ep.board.Name + "/" + idWithContext(ep.id, ep.said()) }
