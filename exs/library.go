package exs

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gomx/internal/labels"
	"gomx/mx"
)

// Library is what sockets share: one endpoint, and the table of the sockets. Most
// programs use the default one, through the functions of the package. Open makes one; calls on a nil or zero Library return EINVAL.
type Library struct {
	params  []mx.Param
	counts  counts
	pollers waitList // those inside Poll
	watcher sync.Once
	done    *mx.Queue     // of all requests of the library; set before ep
	over    chan struct{} // closed behind all else
	ep      atomic.Pointer[mx.Endpoint]
	letGo   atomic.Bool // a write that had to wait for its reader has ended

	work     sync.WaitGroup // goroutines that make connections
	dialTime time.Duration

	opening sync.Mutex
	home    endpointAddr

	accepts atomic.Bool // a listener of the library accepts direct connects

	hideCounters func() // takes the counters out of snapshots; set with ep

	own     sync.Once // sets ownPeer
	ownPeer bool      // messages to ourselves go over a link, as those to others

	mu      sync.RWMutex
	sockets []*Socket // by number
	tags    []uint32  // of the numbers
	free    []uint32  // numbers that nobody has, oldest first
	peers   map[mx.EndpointAddr]*lifeline
	routes  map[netip.AddrPort]*route // to listeners that accept direct connects, by the address that was dialled
	closed  bool
}

// openEndpoint is the operation of errors of an endpoint that can't be opened.
const openEndpoint = "open endpoint"

// endpointAddr is what a peer needs to know to connect to an endpoint.
type endpointAddr struct {
	nic    uint64
	eid    uint32
	filter uint32
}

var standard struct {
	sync.Mutex
	l       *Library
	secured map[security]*Library // of Dialers and ListenConfigs with a secret or TLS
}

// Init initializes the default library (3). It must come before the other functions,
// once. Errors: EINVAL if version is not one that there is, EALREADY.
func Init(version int) error {
	standard.Lock()
	defer standard.Unlock()
	if standard.l != nil {
		return fail("init", EALREADY)
	}
	return initialize(version)
}

// initialize is Init. standard is locked.
func initialize(version int) error {
	l, err := Open(version)
	if err == nil {
		standard.l = l
	}
	return err
}

// initialized returns the default library, which it initializes if nobody has.
func initialized() (l *Library, err error) {
	standard.Lock()
	defer standard.Unlock()
	if standard.l == nil {
		err = initialize(Version1)
	}
	return standard.l, err
}

// Finalize closes the default library, as Library.Close does, and the endpoints of Dialers and ListenConfigs with a secret or
// TLS. Init may follow. Error: EINVAL if there is nothing to close.
func Finalize() error {
	standard.Lock()
	defer standard.Unlock()
	l, more := standard.l, len(standard.secured) > 0
	standard.l = nil
	err := closeSecured()
	switch {
	case l != nil:
		return errors.Join(l.Close(), err)
	case !more:
		return &Error{Op: "finalize", Errno: EINVAL, Cause: tell("Init comes first")}
	}
	return err
}

func defaultLibrary(op string) (*Library, error) {
	standard.Lock()
	defer standard.Unlock()
	if standard.l == nil {
		return nil, &Error{Op: op, Errno: EINVAL, Cause: tell("Init comes first")}
	}
	return standard.l, nil
}

// Open makes a library of its own. The parameters are those of its endpoint, which
// is opened when it is first needed. Errors: EINVAL for a version that there is not,
// for mx.WithContextID, or with what mx.Init says.
func Open(version int, params ...mx.Param) (*Library, error) {
	if version != Version1 {
		return nil, &Error{Op: "init", Errno: EINVAL, Cause: tell(fmt.Sprintf("there is no version %d of the interface, only Version1", version))}
	}
	if slices.ContainsFunc(params, func(p mx.Param) bool { return p.Key == mx.ParamContextID }) {
		return nil, &Error{Op: "init", Errno: EINVAL, Cause: tell("WithContextID is not for sockets, whose match information is the library's own: leave it out")}
	}
	if err := mx.Init(); err != nil && !errors.Is(err, mx.ErrAlreadyInitialized) {
		return nil, failed("init", err, EINVAL)
	}
	return &Library{params: params, peers: map[mx.EndpointAddr]*lifeline{}, routes: map[netip.AddrPort]*route{}, over: make(chan struct{}), dialTime: dialTime}, nil
}

// Endpoint returns the endpoint that all sockets of the library share. Messages of
// the caller's own must not look like those of bits.go; windows are free for use. Requests of the caller's own are to be collected by
// Test, Wait and WaitAll, or from a Queue: WaitAny, TestAny and Peek may take one of the library that is complete at once, before it is in
// the library's queue. The caller must not close the endpoint, without which nothing of the library goes on; Library.Close does.
// Error: ENETDOWN with the reason.
func (l *Library) Endpoint() (*mx.Endpoint, error) {
	if l.none() {
		return nil, absent(openEndpoint, EINVAL, noLibrary)
	}
	if ep := l.ep.Load(); ep != nil {
		return ep, nil
	}
	l.opening.Lock()
	defer l.opening.Unlock()
	if ep := l.ep.Load(); ep != nil {
		return ep, nil
	}
	if l.isClosed() {
		return nil, &Error{Op: openEndpoint, Errno: ENETDOWN, Cause: errLibraryClosed}
	}
	var random [4]byte
	_, _ = rand.Read(random[:])
	filter := binary.LittleEndian.Uint32(random[:])
	params := append([]mx.Param{mx.WithErrorHandler(mx.ErrorsReturn)}, l.params...) // the program makes no call of mx
	ep, err := mx.OpenEndpoint(mx.AnyNIC, mx.AnyEndpoint, filter, params...)
	if err != nil {
		return nil, &Error{Op: openEndpoint, Errno: ENETDOWN, Cause: err}
	}
	nic, eid, err := mx.DecomposeEndpointAddr(ep.Addr())
	if err == nil {
		err = ep.RegisterUnexpHandler(l.unexpected, nil)
	}
	if err == nil {
		l.done, err = mx.NewQueue(ep)
	}
	if err == nil {
		err = l.done.Handle(l.dispatch)
	}
	if err != nil {
		_ = ep.Close()
		return nil, &Error{Op: openEndpoint, Errno: ENETDOWN, Cause: err}
	}
	l.home = endpointAddr{nic, eid, filter}
	l.ep.Store(ep)
	l.hideCounters = mx.AddCounters(l.counterGroups)
	return ep, nil
}

// isOwnPeer reports whether the library's endpoint reaches itself over a link (MX_DISABLE_SELF). It is asked when a
// connection to ourselves has been made.
func (l *Library) isOwnPeer() bool {
	l.own.Do(func() {
		l.ownPeer = slices.ContainsFunc(l.ep.Load().Peers(), func(p mx.PeerInfo) bool {
			return p.NICID == l.home.nic && p.EndpointID == l.home.eid
		})
	})
	return l.ownPeer
}

func (l *Library) isOver() bool {
	select {
	case <-l.over:
		return true
	default:
		return false
	}
}

func (l *Library) isClosed() bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.closed
}

// late is the error of a call whose deadline has passed: that the library is closed, no later deadline changes.
func (l *Library) late() error {
	if l.isClosed() {
		return net.ErrClosed
	}
	return os.ErrDeadlineExceeded
}

// Close closes the library and every socket of it. Peers see their connections
// reset; what is outstanding here ends with ECANCELED, and calls of a Conn with net.ErrClosed, as later ones do.
// Error: EINVAL the second time.
func (l *Library) Close() error {
	if l.none() {
		return absent("close library", EINVAL, noLibrary)
	}
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return &Error{Op: "close library", Errno: EINVAL, Cause: errLibraryClosed}
	}
	l.closed = true
	sockets := append([]*Socket(nil), l.sockets...)
	l.mu.Unlock()

	for _, s := range sockets {
		if s != nil {
			s.abandon()
		}
	}
	l.opening.Lock() // nobody opens an endpoint from here on
	defer l.opening.Unlock()
	var err error
	if ep := l.ep.Load(); ep != nil {
		l.hideCounters()
		err = ep.Close()
	}
	l.work.Wait()
	for _, s := range sockets {
		if s != nil {
			s.terminate()
		}
	}
	close(l.over)
	return failed("close library", err, EIO)
}

// start runs f in a goroutine that Close waits for.
func (l *Library) start(f func()) { l.work.Go(labels.For("exs connections").Func(f)) }

// enroll gives a socket a number, and a tag that the number has not had recently.
func (l *Library) enroll(s *Socket) Errno {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return ENETDOWN
	case len(l.free) > 0:
		s.conn, l.free = l.free[0], l.free[1:]
	case len(l.sockets) == maxSockets:
		return ENOBUFS
	default:
		var random [4]byte
		_, _ = rand.Read(random[:])
		s.conn = uint32(len(l.sockets))
		l.sockets, l.tags = append(l.sockets, nil), append(l.tags, binary.LittleEndian.Uint32(random[:]))
	}
	l.tag(s)
	l.sockets[s.conn] = s
	return 0
}

// tag gives a socket the next tag of its number. The lock is held.
func (l *Library) tag(s *Socket) {
	l.tags[s.conn]++
	s.tag = l.tags[s.conn] & (1<<tagBits - 1)
}

// retag gives a socket another tag, so that messages to the old tag are dropped. The socket's lock is held.
func (l *Library) retag(s *Socket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tag(s)
}

// dismiss frees the number of a socket.
func (l *Library) dismiss(s *Socket) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if int(s.conn) < len(l.sockets) && l.sockets[s.conn] == s {
		l.sockets[s.conn] = nil
		l.free = append(l.free, s.conn)
	}
}

// socketOf returns the socket that a message is for, or nil.
func (l *Library) socketOf(match uint64) *Socket {
	conn := connOf(match)
	l.mu.RLock()
	defer l.mu.RUnlock()
	if int(conn) >= len(l.sockets) {
		return nil
	}
	if s := l.sockets[conn]; s != nil && s.tag == tagOf(match) {
		return s
	}
	return nil
}
