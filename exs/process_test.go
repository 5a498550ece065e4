package exs_test

import (
	"bufio"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"gomx/exs"
	"gomx/internal/testlength"
)

// roleKey names the variable that makes the test binary the other process of a test.
const roleKey = "GOMX_EXS_TEST_PEER"

func TestMain(m *testing.M) {
	if text := os.Getenv(roleKey); text != "" {
		time.AfterFunc(time.Minute, func() { os.Exit(3) })
		if err := peer(text); err != nil {
			fmt.Println("failed:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if text := os.Getenv(fewKey); text != "" {
		time.AfterFunc(time.Minute, func() { os.Exit(3) })
		fmt.Println("failed:", echoServer(text))
		os.Exit(1)
	}
	ownPorts()
	_ = flag.Set("test.parallel", "6") // unless the command line says otherwise: tests that run beside others wait most of the time
	os.Exit(m.Run())
}

// ownPorts has the endpoints of this process, and of those that it starts, listen where other programs that run meanwhile hardly do: what a
// dial says that finds nobody would otherwise be about one of those.
func ownPorts() {
	if os.Getenv("MX_PORT_BASE") == "" && os.Getenv("MX_PORT_RANGE") == "" {
		const behind, apart, slots = 24096, 256, 16 // the last of all endpoints is below the ports that the system gives out
		_ = os.Setenv("MX_PORT_BASE", fmt.Sprint(behind+os.Getpid()%slots*apart))
	}
}

// peer connects, and echoes until the end.
func peer(text string) error {
	var typ int
	var where string
	if _, err := fmt.Sscan(text, &typ, &where); err != nil {
		return err
	}
	addr, err := netip.ParseAddrPort(where)
	if err != nil {
		return err
	}
	if err := exs.Init(exs.Version1); err != nil {
		return err
	}
	s, err := exs.NewSocket(exs.Inet, typ, 0)
	if err != nil {
		return err
	}
	if err := s.BlockingConnect(addr); err != nil {
		return err
	}
	fmt.Println("connected")
	b := make([]byte, 1<<20)
	for {
		n, err := s.BlockingRecv(b, 0, exs.Unregistered)
		if n == 0 || err != nil {
			if err != nil {
				return err
			}
			return s.BlockingClose()
		}
		if _, err := s.Write(b[:n]); err != nil {
			return err
		}
	}
}

// other starts the other process, and accepts its connection.
func other(w *world, typ int) (*exec.Cmd, *exs.Socket) {
	w.Helper()
	l, addr := w.listener(typ)
	self, err := os.Executable()
	w.ok(err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %v", roleKey, typ, addr))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	w.ok(err)
	w.ok(cmd.Start())
	w.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var s *exs.Socket
	w.within("a connection", func() { s, _, err = l.BlockingAccept() })
	w.ok(err)
	line, err := bufio.NewReader(out).ReadString('\n')
	w.ok(err)
	if line != "connected\n" {
		w.Fatal(line)
	}
	return cmd, s
}

func eachType(t *testing.T, f func(w *world, typ int)) {
	for _, typ := range both {
		t.Run(map[int]string{exs.Stream: "stream", exs.SeqPacket: "packets"}[typ], func(t *testing.T) {
			f(newWorld(t, "one library"), typ)
		})
	}
}

func TestTwoProcesses(t *testing.T) {
	eachType(t, func(w *world, typ int) {
		cmd, s := other(w, typ)
		for i, n := range []int{1, 100, 10_000, 300_000} {
			out, in := pattern(n, byte(i)), make([]byte, n)
			q := w.queue(w.there)
			_, err := s.Recv(in, exs.WaitAll, q, nil, nil)
			w.ok(err)
			_, err = s.Write(out)
			w.ok(err)
			w.event(q, exs.EvtRecv, 0)
			w.same(in, out)
		}
		w.ok(s.BlockingClose())
		w.within("the end of the peer", func() { w.Log(cmd.Process.Wait()) })
	})
}

// freeze stops a process: it answers nothing from then on, and can still be killed.
func (w *world) freeze(p *os.Process) {
	w.Helper()
	w.ok(p.Signal(syscall.SIGSTOP))
	var status syscall.WaitStatus
	_, err := syscall.Wait4(p.Pid, &status, syscall.WUNTRACED, nil)
	w.ok(err)
	if !status.Stopped() {
		w.Fatalf("the peer ended instead of stopping: %v", status)
	}
}

// TestPeerIsKilled kills the other process while both kinds of calls wait. It is frozen before, so
// that it answers none of them.
func TestPeerIsKilled(t *testing.T) {
	eachType(t, func(w *world, typ int) {
		cmd, s := other(w, typ)
		sends, receives := w.queue(w.there), w.queue(w.there)
		w.freeze(cmd.Process)
		in, big := make([]byte, 10), make([]byte, 30<<20)
		_, err := s.Recv(in, 0, receives, nil, nil)
		w.ok(err)
		const count = 8
		for range count {
			_, err := s.Send(big, 0, sends, nil, nil)
			w.ok(err)
		}
		w.ok(cmd.Process.Kill())
		w.event(receives, exs.EvtRecv, exs.ECONNRESET)
		for range count {
			w.event(sends, exs.EvtSend, exs.ECONNRESET)
		}
		_, err = s.Write(in)
		refused(w, err, exs.ECONNRESET)
		_, err = s.BlockingRecv(in, 0, nil)
		refused(w, err, exs.ECONNRESET)
		w.ok(s.BlockingClose())
	})
}

// A close without lingering ends everything, whatever the peer does, and so does that of the library. The memory of what it has ended is free.
func TestEndTowardsStopped(t *testing.T) {
	for name, end := range map[string]func(w *world, s *exs.Socket) error{
		"socket":  func(_ *world, s *exs.Socket) error { return s.Close(exs.Block|exs.DontLinger, nil, nil) },
		"library": func(w *world, _ *exs.Socket) error { return w.there.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			eachType(t, func(w *world, typ int) {
				cmd, s := other(w, typ)
				q := w.queue(w.there)
				w.freeze(cmd.Process)
				const count = 3
				for range count {
					_, err := s.Recv(make([]byte, 1<<20), 0, q, nil, nil)
					w.ok(err)
					_, err = s.Send(make([]byte, 3<<20), 0, q, nil, nil)
					w.ok(err)
				}
				var err error
				w.within("the close", func() { err = end(w, s) })
				w.ok(err)
				var e [2 * count]exs.Event
				n, err := q.DequeueAtLeast(e[:], len(e), bound)
				w.ok(err)
				for i := range e[:n] {
					if e[i].Errno != exs.ECONNRESET && e[i].Errno != exs.ECANCELED {
						w.Errorf("event %v ended with %v", e[i].Type, e[i].Errno)
					}
				}
				if n != len(e) {
					w.Errorf("%d events of %d", n, len(e))
				}
			})
		})
	}
}

// A close does not wait for ever for a process that is stopped to take what was sent.
func TestCloseTowardsStopped(t *testing.T) {
	testlength.Long(t)
	t.Parallel()
	eachType(t, func(w *world, typ int) {
		cmd, s := other(w, typ)
		w.freeze(cmd.Process)
		_, err := s.Write([]byte("for later"))
		w.ok(err)
		w.within("the close", func() { err = s.BlockingClose() })
		w.ok(err)
	})
}
