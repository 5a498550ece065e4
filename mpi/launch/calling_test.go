package launch

import (
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gomx/internal/freeport"
)

// TestMuteFirst has the first address at which rank 0 may listen accept connections and send nothing.
func TestMuteFirst(t *testing.T) {
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	p := membership{launcher: "test", size: 2, job: "test", host: "127.0.0.1", ports: []int{freeport.Take(t)}}
	s := &settings{meet: handshakeTime - time.Second} // less than the mute one is waited for
	r, err := p.listen(s)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.finalize(t.Context()) }()
	p.rank, p.ports = 1, []int{mute.Addr().(*net.TCPAddr).Port, p.ports[0]}
	v, err := p.visit(s)
	if err != nil {
		t.Fatal(err)
	}
	_ = v.finalize(t.Context())
}

// TestRootIsMute: a rank 0 that accepts connections and says nothing is not taken for one that is not there, whether the time of the search
// or that of a greeting is over first, and though another port has refused.
func TestRootIsMute(t *testing.T) {
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	p := membership{launcher: "test", rank: 1, size: 2, job: "test", host: "127.0.0.1", ports: []int{freeport.Take(t), mute.Addr().(*net.TCPAddr).Port}}
	_, err = p.visit(&settings{meet: time.Second})
	if !errors.Is(err, errMute) || !strings.Contains(err.Error(), mute.Addr().String()) || !strings.Contains(err.Error(), "rank 0 was not found within 1s") {
		t.Error(err)
	}
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		defer there.Close()
		if _, err := hearGreeting(here); !errors.Is(err, errMute) {
			t.Error(err)
		}
	})
}

// TestNothingAnswers: the error of a search during which nothing answered names the place, or the host whose address is not known.
func TestNothingAnswers(t *testing.T) {
	f := &search{membership: &membership{host: "far"}, busy: map[string]*caller{}}
	if err := f.why(); !strings.Contains(err.Error(), "far: ") {
		t.Error(err)
	}
	f.busy["10.0.0.1:9"] = &caller{at: "10.0.0.1:9"}
	if err := f.why(); !strings.Contains(err.Error(), "10.0.0.1:9: nothing answers") {
		t.Error(err)
	}
	if f.last = syscall.ECONNREFUSED; f.why() != f.last {
		t.Error(f.why())
	}
}

// stillConn is the connection of a process that stands still while the verdict comes, until its time is over.
type stillConn struct {
	net.Conn
	late bool
}

func (c *stillConn) Read(b []byte) (int, error) {
	if !c.late {
		c.late = true
		return 0, os.ErrDeadlineExceeded
	}
	return c.Conn.Read(b)
}

// TestStandstillBeforeTheVerdict: a member that was stopped during the handshake reads what has come before it takes its time for over.
func TestStandstillBeforeTheVerdict(t *testing.T) {
	p, s := &membership{launcher: "test", rank: 1, size: 2, job: "test"}, &settings{}
	here, there := net.Pipe()
	admitted := make(chan error, 1)
	go func() {
		who, err := p.open(s, there)
		if err == nil {
			err = who.answer(welcome)
		}
		admitted <- err
	}()
	theirs, err := hearGreeting(here)
	if err != nil {
		t.Fatal(err)
	}
	c := &caller{conn: &stillConn{Conn: here}, greeting: theirs}
	if err := p.finishHandshake(s, c, make([]byte, nonceSize)); err != nil {
		t.Error(err)
	}
	if err := <-admitted; err != nil {
		t.Error(err)
	}
}

// noDescriptors is a listener of a process that has none left.
type noDescriptors struct{ tries int }

func (l *noDescriptors) Accept() (net.Conn, error) {
	if l.tries--; l.tries < 0 {
		return nil, net.ErrClosed
	}
	return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
}

func (l *noDescriptors) Close() error   { return nil }
func (l *noDescriptors) Addr() net.Addr { return nil }

// TestNoDescriptors: the root does not spin while nobody can be let in.
func TestNoDescriptors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const tries = 100
		began := time.Now()
		(&root{listener: &noDescriptors{tries}}).accept()
		if spent := time.Since(began); spent < tries*firstPause {
			t.Errorf("%d tries within %v", tries, spent)
		}
	})
}
