//go:build linux

package exs_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gomx/exs"
	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
)

// readers is a role: a server that reads all its connections to their ends, or takes nothing from them.
func readers(c *proc.Child) {
	serve(c, func(conn net.Conn) {
		if c.Args[0] == "reads" {
			go func() { _, _ = io.Copy(io.Discard, conn) }()
		}
	})
}

// serve says where it listens, and has each connection used, of which it says that it is there. The second argument, if there is one,
// is the network.
func serve(c *proc.Child, use func(conn net.Conn)) {
	network := streamNetwork
	if len(c.Args) > 1 {
		network = c.Args[1]
	}
	ln, err := ownLibrary(c).Listen(network, "127.0.0.1:0")
	if err != nil {
		c.Fail(err)
	}
	c.Say("listens %v", ln.Addr())
	for {
		conn, err := ln.Accept()
		if err != nil {
			c.Fail(err)
		}
		c.Say("accepted")
		use(conn)
	}
}

// The networks of connections.
const (
	streamNetwork = "exs"
	packetNetwork = "exspacket"
)

// party is what a call is tried with: a connection, in a library of its own, to a peer that does not do its part.
type party struct {
	l    *exs.Library
	conn interface {
		net.Conn
		CloseWrite() error
		Socket() *exs.Socket
	}
	s   *exs.Socket
	q   *exs.Queue
	at  netip.AddrPort // where the peer listens
	mem []byte         // what the call is given
}

// moment is how long calls are let wait.
const moment = 100 * time.Millisecond

// beside makes a call, and ends what it waits for in another way.
func (p *party) beside(end func() error, call func() error) error {
	ended := make(chan error, 1)
	go func() { ended <- call() }()
	time.Sleep(moment)
	return errors.Join(end(), <-ended)
}

// endings are the calls of exs that take a context, a deadline or a timeout, or that a Close ends.
var endings = []struct {
	name    string
	call    func(p *party) error
	may     []error // how it may end, if not well
	network string  // of the connection; "": streamNetwork
	limit   string  // the function that takes the context, deadline or timeout
}{
	{"Read, deadline", func(p *party) error {
		_ = p.conn.SetReadDeadline(time.Now().Add(moment))
		_, err := p.conn.Read(p.mem)
		return err
	}, []error{os.ErrDeadlineExceeded}, "", "Conn.SetReadDeadline"},
	{"Read, Close", func(p *party) error {
		return p.beside(p.conn.Close, func() error { _, err := p.conn.Read(p.mem); return err })
	}, []error{net.ErrClosed}, "", ""},
	{"Write, deadline", func(p *party) error {
		_ = p.conn.SetWriteDeadline(time.Now().Add(moment))
		_, err := p.conn.Write(p.mem)
		return err
	}, []error{os.ErrDeadlineExceeded}, "", "Conn.SetWriteDeadline"},
	{"short Writes, deadline", func(p *party) error {
		_ = p.conn.SetWriteDeadline(time.Now().Add(moment))
		for range 5000 {
			if _, err := p.conn.Write(p.mem[:1000]); err != nil {
				return err
			}
		}
		return nil
	}, []error{os.ErrDeadlineExceeded}, "", "Conn.SetWriteDeadline"},
	{"Write, Close", func(p *party) error {
		return p.beside(p.conn.Close, func() error { _, err := p.conn.Write(p.mem); return err })
	}, []error{net.ErrClosed}, "", ""},
	{"packets: Read, deadline", func(p *party) error {
		_ = p.conn.SetReadDeadline(time.Now().Add(moment))
		_, err := p.conn.Read(p.mem)
		return err
	}, []error{os.ErrDeadlineExceeded}, packetNetwork, "SeqPacketConn.SetReadDeadline"},
	{"packets: Write, deadline", func(p *party) error {
		_ = p.conn.SetWriteDeadline(time.Now().Add(moment))
		_, err := p.conn.Write(p.mem)
		return err
	}, []error{os.ErrDeadlineExceeded}, packetNetwork, "SeqPacketConn.SetWriteDeadline"},
	{"packets: short Writes, deadline", func(p *party) error {
		_ = p.conn.SetDeadline(time.Now().Add(moment))
		for range 5 * exs.DefaultCredits {
			if _, err := p.conn.Write(p.mem[:1000]); err != nil {
				return err
			}
		}
		return nil
	}, []error{os.ErrDeadlineExceeded}, packetNetwork, "SeqPacketConn.SetDeadline"},
	{"Read and Write, deadline", func(p *party) error {
		_ = p.conn.SetDeadline(time.Now().Add(moment))
		_, err := p.conn.Read(p.mem)
		if _, late := p.conn.Write(p.mem); late == nil {
			err = errors.New("a Write succeeds after its deadline")
		}
		return err
	}, []error{os.ErrDeadlineExceeded}, "", "Conn.SetDeadline"},
	{"Dialer", func(p *party) error {
		ctx, stop := context.WithTimeout(context.Background(), moment)
		defer stop()
		c, err := (&exs.Dialer{Library: p.l}).DialContext(ctx, packetNetwork, p.at.String())
		if err == nil {
			err = c.Close()
		}
		return err
	}, []error{context.DeadlineExceeded}, packetNetwork, "Dialer.DialContext"},
	{"DequeueAtLeast, timeout", func(p *party) error {
		_, err := p.s.Recv(p.mem[:1000], 0, p.q, nil, nil)
		if err == nil {
			_, err = p.q.DequeueAtLeast(make([]exs.Event, 2), 2, moment)
		}
		return err
	}, nil, "", "Queue.DequeueAtLeast"},
	{"CloseWrite", func(p *party) error {
		_ = p.conn.SetWriteDeadline(time.Now().Add(moment))
		_, _ = p.conn.Write(p.mem[:100_000])
		return p.conn.CloseWrite()
	}, nil, "", "Conn.SetWriteDeadline"},
	{"DialContext", func(p *party) error {
		ctx, stop := context.WithTimeout(context.Background(), moment)
		defer stop()
		c, err := p.l.DialContext(ctx, "exs", p.at.String())
		if err == nil {
			err = c.Close()
		}
		return err
	}, []error{context.DeadlineExceeded}, "", "Library.DialContext"},
	{"Dial, Library.Close", func(p *party) error {
		return p.beside(p.l.Close, func() error { _, err := p.l.Dial("exs", p.at.String()); return err })
	}, []error{net.ErrClosed}, "", ""},
	{"Connect, timeout", func(p *party) error {
		s, err := p.l.Socket(exs.Inet, exs.Stream, 0)
		if err == nil {
			err = s.Connect(p.at, exs.Block, moment, nil, nil)
		}
		return err
	}, []error{exs.ETIMEDOUT}, "", "Socket.Connect"},
	{"Connect, Close", func(p *party) error {
		s, err := p.l.Socket(exs.Inet, exs.Stream, 0)
		if err != nil {
			return err
		}
		return p.beside(s.BlockingClose, func() error { return s.BlockingConnect(p.at) })
	}, []error{exs.ECANCELED}, "", ""},
	{"Dequeue, timeout", func(p *party) error {
		_, err := p.s.Recv(p.mem, 0, p.q, nil, nil)
		if err == nil {
			_, err = p.q.Dequeue(make([]exs.Event, 1), moment)
		}
		return err
	}, nil, "", "Queue.Dequeue"},
	{"Poll, timeout", func(p *party) error {
		_, err := exs.Poll([]exs.PollEntry{{Socket: p.s, Events: exs.PollIn}}, moment)
		return err
	}, nil, "", "Poll"},
	{"Send and Recv, Close without lingering", func(p *party) error {
		_, err := p.s.Recv(p.mem, 0, p.q, nil, nil)
		if err == nil {
			_, err = p.s.Send(p.mem, 0, p.q, nil, nil)
		}
		if err == nil {
			err = p.s.Close(exs.Block|exs.DontLinger, nil, nil)
		}
		if err == nil {
			_, err = p.q.DequeueAtLeast(make([]exs.Event, 2), 2, exs.Infinite)
		}
		return err
	}, nil, "", ""},
	{"Send, Library.Close", func(p *party) error {
		return p.beside(p.l.Close, func() error { _, err := p.s.BlockingSend(p.mem, 0, nil); return err })
	}, []error{exs.ECANCELED}, "", ""},
	{"Recv, Library.Close", func(p *party) error {
		return p.beside(p.l.Close, func() error { _, err := p.s.BlockingRecv(p.mem, 0, nil); return err })
	}, []error{exs.ECANCELED}, "", ""},
	{"SendFile, Library.Close", func(p *party) error {
		return p.beside(p.l.Close, func() error {
			_, err := p.s.SendFile([]exs.FileVec{{Bytes: p.mem, Length: -1}}, exs.Block, nil, nil)
			return err
		})
	}, []error{exs.ECANCELED}, "", ""},
	{"Dequeue, Library.Close", func(p *party) error {
		return p.beside(p.l.Close, func() error { _, err := p.q.Dequeue(make([]exs.Event, 1), exs.Infinite); return err })
	}, []error{exs.ENETDOWN}, "", ""},
	{"Poll, Library.Close", func(p *party) error {
		return p.beside(p.l.Close, func() error {
			_, err := exs.Poll([]exs.PollEntry{{Socket: p.s, Events: exs.PollIn}}, exs.Infinite)
			return err
		})
	}, nil, "", ""},
	{"Write, Library.Close", func(p *party) error {
		return p.beside(p.l.Close, func() error { _, err := p.conn.Write(p.mem); return err })
	}, []error{net.ErrClosed}, "", ""},
	{"Accept, deadline", func(p *party) error {
		ln, err := p.l.Listen("exs", "127.0.0.1:0")
		if err != nil {
			return err
		}
		_ = ln.(*exs.Listener).SetDeadline(time.Now().Add(moment))
		_, err = ln.Accept()
		return errors.Join(err, ln.Close())
	}, []error{os.ErrDeadlineExceeded}, "", "Listener.SetDeadline"},
	{"Accept, Library.Close", func(p *party) error {
		ln, err := p.l.Listen("exs", "127.0.0.1:0")
		if err != nil {
			return err
		}
		return p.beside(p.l.Close, func() error { _, err := ln.Accept(); return err })
	}, []error{net.ErrClosed}, "", ""},
}

// elsewhere are functions that take a limit and are not in the table. The two of the package are those of its library; the context of Listen is that of the look-up of
// names, which needs no peer.
var elsewhere = []string{"DialContext", "ListenConfig.Listen"}

// TestTableOfCallsEnd: every function and method that takes a context, a deadline or a timeout is in the table.
func TestTableOfCallsEnd(t *testing.T) {
	tried := slices.Clone(elsewhere)
	for _, e := range endings {
		tried = append(tried, e.limit)
	}
	for _, name := range limited() {
		if !slices.Contains(tried, name) {
			t.Errorf("%s takes a context, a deadline or a timeout, and is not in the table", name)
		}
	}
}

// limited returns the functions and methods of package exs that take a context, a deadline or a timeout.
func limited() (names []string) {
	limits := []reflect.Type{reflect.TypeFor[context.Context](), reflect.TypeFor[time.Time](), reflect.TypeFor[time.Duration]()}
	add := func(name string, f reflect.Type) {
		for in := range f.Ins() {
			if slices.Contains(limits, in) {
				names = append(names, name)
			}
		}
	}
	add("Poll", reflect.TypeOf(exs.Poll))
	add("DialContext", reflect.TypeOf(exs.DialContext))
	for _, typ := range []reflect.Type{
		reflect.TypeFor[*exs.Conn](), reflect.TypeFor[*exs.SeqPacketConn](), reflect.TypeFor[*exs.Dialer](), reflect.TypeFor[*exs.Library](),
		reflect.TypeFor[*exs.ListenConfig](), reflect.TypeFor[*exs.Listener](), reflect.TypeFor[*exs.Memory](), reflect.TypeFor[*exs.Queue](),
		reflect.TypeFor[*exs.Socket](),
	} {
		for m := range typ.Methods() {
			add(typ.Elem().Name()+"."+m.Name, m.Type)
		}
	}
	return names
}

// Every call that a deadline, a context, a timeout or a Close ends does end so, while the peer is stopped, while it takes nothing, and
// when it dies. So does what is called after it. What was given to the call is not touched any more, and nothing is left over.
func TestCallsEnd(t *testing.T) {
	testlength.Long(t)
	goroutines := runtime.NumGoroutine()
	t.Run("all", func(t *testing.T) { callsEnd(t) })
	for end := time.Now().Add(soon); runtime.NumGoroutine() > goroutines+3; time.Sleep(moment / 10) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines more than before", runtime.NumGoroutine()-goroutines)
		}
	}
}

func callsEnd(t *testing.T) {
	t.Helper()
	for _, medium := range []string{"shm", "tcp"} {
		for _, c := range []struct {
			name, role string
			begin, end func(*proc.Process)
		}{
			{"stopped", "reads", (*proc.Process).Stop, func(p *proc.Process) { p.Signal(syscall.SIGCONT) }},
			{"slow", "idle", func(*proc.Process) {}, func(*proc.Process) {}},
			{"dies", "reads", func(p *proc.Process) { p.Stop(); time.AfterFunc(moment/2, func() { p.Signal(syscall.SIGKILL) }) }, func(*proc.Process) {}},
		} {
			t.Run(medium+"/"+c.name, func(t *testing.T) {
				need(t, medium)
				t.Parallel()
				children := map[string]*proc.Process{}
				at := map[string]netip.AddrPort{}
				for _, network := range []string{streamNetwork, packetNetwork} {
					children[network] = start(t, medium, "readers", c.role, network)
					at[network] = netip.MustParseAddrPort(children[network].Hear("listens"))
				}
				var parties []*party
				for _, e := range endings {
					network := cmp.Or(e.network, streamNetwork)
					parties = append(parties, join(t, medium, network, at[network]))
					children[network].Hear("accepted")
				}
				for _, child := range children {
					c.begin(child)
				}
				var all sync.WaitGroup
				for i, p := range parties {
					all.Go(func() { p.try(t, i, c.name == "dies") })
				}
				all.Wait()
				kept := make([][]byte, len(parties))
				for i, p := range parties {
					kept[i] = bytes.Clone(p.mem)
				}
				for _, child := range children {
					c.end(child)
				}
				time.Sleep(moment)
				for _, child := range children {
					child.Kill()
				}
				for i, p := range parties {
					p.settles(t, i)
				}
				for _, p := range parties {
					within(t, soon, "Close of the library", func() { _ = p.l.Close() })
				}
				for i, p := range parties {
					if !bytes.Equal(p.mem, kept[i]) && !strings.HasPrefix(endings[i].limit, "Queue.") { // its receive goes on
						t.Errorf("%s: its memory was written later", endings[i].name)
					}
				}
			})
		}
	}
}

// join makes a connection in a library of its own.
func join(t *testing.T, medium, network string, at netip.AddrPort) *party {
	t.Helper()
	p := &party{l: library(t, medium), at: at, mem: leftBehind(2 << 20)}
	c, err := p.l.Dial(network, at.String())
	if err != nil {
		t.Fatal(err)
	}
	if network == packetNetwork {
		p.conn = c.(*exs.SeqPacketConn)
	} else {
		p.conn = c.(*exs.Conn)
	}
	p.s = p.conn.Socket()
	if p.q, err = p.l.Queue(4); err != nil {
		t.Fatal(err)
	}
	return p
}

// try makes a call, and what may follow it.
func (p *party) try(t *testing.T, i int, dies bool) {
	e := endings[i]
	done := make(chan error)
	go func() { done <- e.call(p) }()
	select {
	case err := <-done:
		if !ends(err, e.may, dies) {
			t.Errorf("%s: %v", e.name, err)
		}
	case <-time.After(soon):
		t.Errorf("%s did not end within %v", e.name, soon)
		return
	}
	go func() {
		_ = p.conn.SetDeadline(time.Now().Add(moment))
		_, err := p.conn.Write(p.mem[:100_000])
		if err == nil || ends(err, []error{os.ErrDeadlineExceeded, net.ErrClosed, syscall.EPIPE, exs.ECONNRESET, exs.ECANCELED}, true) {
			err = nil
		}
		done <- errors.Join(err, closed(p.conn.Close()))
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Errorf("after %s: %v", e.name, err)
		}
	case <-time.After(soon):
		t.Errorf("what follows %s did not end within %v", e.name, soon)
	}
}

// settles waits until the endpoint has nothing left to do, if it is open.
func (p *party) settles(t *testing.T, i int) {
	t.Helper()
	ep, err := p.l.Endpoint()
	if err != nil {
		return
	}
	for end := time.Now().Add(soon); ; time.Sleep(moment / 10) {
		left := ep.Pending()
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("after %s: %v", endings[i].name, left)
		}
	}
}

func closed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// ends reports whether a call may end with an error. Beside the death of the peer, or on the way there, others may come.
func ends(err error, may []error, dies bool) bool {
	if err == nil {
		return true
	}
	for _, m := range may {
		if errors.Is(err, m) {
			return true
		}
	}
	return dies && (errors.Is(err, io.EOF) || errors.Is(err, exs.ECONNRESET) || errors.Is(err, exs.EPIPE) || errors.Is(err, exs.ECONNREFUSED) || errors.Is(err, exs.EPROTO) || errors.Is(err, exs.EHOSTUNREACH))
}
