//go:build linux

package exs_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/netip"
	"sync"
	"testing"

	"gomx/exs"
	"gomx/integration/internal/proc"
	"gomx/internal/testlength"
)

// crowd is many connections to another process, which echoes.
type crowd struct {
	testing.TB
	server  *proc.Process
	l       *exs.Library
	kind    string
	sockets []*exs.Socket
	conns   []net.Conn
	q       *exs.Queue
	in, out [][]byte
	events  []exs.Event
	grown   int64 // bytes of memory here, since the first connection
}

// busy is how many connections of a crowd are used. Those are spread among them.
const busy = 10

// gather makes a crowd.
func gather(t testing.TB, medium, kind string, count int) *crowd {
	t.Helper()
	c := &crowd{TB: t, kind: kind, server: start(t, medium, "echo", kind, count)}
	c.l = library(t, medium)
	addr, err := netip.ParseAddrPort(c.server.Hear("at "))
	c.ok(err)
	c.q, err = c.l.Queue(2 * busy)
	c.ok(err)
	var first uint64
	for i := range count {
		c.connect(addr)
		if i == 0 {
			c.server.Hear("first")
			first = memory()
		}
	}
	c.server.Hear("all")
	c.grown = int64(memory() - first)
	for range busy {
		c.in, c.out = append(c.in, make([]byte, messageSize)), append(c.out, make([]byte, messageSize))
	}
	c.events = make([]exs.Event, busy)
	return c
}

func (c *crowd) ok(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func (c *crowd) connect(addr netip.AddrPort) {
	c.Helper()
	if c.kind == conns {
		conn, err := c.l.Dial("exs", addr.String())
		c.ok(err)
		c.conns = append(c.conns, conn)
		return
	}
	s, err := c.l.Socket(exs.Inet, typeOf(c.kind), 0)
	c.ok(err)
	c.ok(s.Connect(addr, exs.Block, bound, nil, nil))
	c.sockets = append(c.sockets, s)
}

// size is how many connections there are.
func (c *crowd) size() int { return len(c.sockets) + len(c.conns) }

// rounds sends messages on the busy connections, and waits for their answers: of all
// sockets together, of each net.Conn by itself.
func (c *crowd) rounds(count int) {
	c.Helper()
	if c.kind == conns {
		var all sync.WaitGroup
		for i := range busy {
			all.Go(func() { c.talk(c.conns[i*len(c.conns)/busy], c.out[i], c.in[i], count) })
		}
		all.Wait()
		return
	}
	for range count {
		c.round(func(i int) *exs.Socket { return c.sockets[i*len(c.sockets)/busy] })
	}
}

// round is a message and its answer on each of the sockets that at names.
func (c *crowd) round(at func(i int) *exs.Socket) {
	c.Helper()
	for i := range busy {
		s := at(i)
		_, err := s.Recv(c.in[i], exs.WaitAll, c.q, nil, exs.Unregistered)
		c.ok(err)
		_, err = s.BlockingSend(c.out[i], 0, exs.Unregistered)
		c.ok(err)
	}
	for got := 0; got < busy; {
		n, err := c.q.Dequeue(c.events, bound)
		c.ok(err)
		if n == 0 {
			c.Fatalf("%d of %d answers within %v", got, busy, bound)
		}
		got += n
	}
}

// talk sends messages over one net.Conn, each when the answer to the one before is here.
func (c *crowd) talk(conn net.Conn, out, in []byte, count int) {
	for range count {
		if _, err := conn.Write(out); err != nil {
			c.Error(err)
			return
		}
		if _, err := io.ReadFull(conn, in); err != nil {
			c.Error(err)
			return
		}
	}
}

// everyone sends a message on every connection and checks its answer.
func (c *crowd) everyone() {
	c.Helper()
	for first := 0; first+busy <= c.size(); first += busy {
		for i := range busy {
			for j := range c.out[i] {
				c.out[i][j] = byte(first + i + j)
			}
			clear(c.in[i])
		}
		if c.kind == conns {
			for i := range busy {
				c.talk(c.conns[first+i], c.out[i], c.in[i], 1)
			}
		} else {
			c.round(func(i int) *exs.Socket { return c.sockets[first+i] })
		}
		for i := range busy {
			if !bytes.Equal(c.in[i], c.out[i]) {
				c.Fatalf("connection %d: not the answer to what was sent", first+i)
			}
		}
	}
}

// each returns what a connection takes here and at the server, bytes.
func (c *crowd) each() (here, there float64) {
	c.Helper()
	c.server.Say("memory")
	others := float64(c.size() - 1)
	return float64(c.grown) / others, float64(c.server.HearNumber("memory ")) / others
}

// mostAtRest is what a connection that rests may take, beyond its buffers.
const mostAtRest = 16 << 10

// Connections that rest take little memory, before they are used and after. At the
// server each has a receive that waits, and a net.Conn a goroutine.
func TestAtRest(t *testing.T) {
	testlength.Long(t)
	count := 1000
	if testing.Short() {
		count = 200
	}
	for _, kind := range []string{packets, streams, conns} {
		t.Run(kind, func(t *testing.T) {
			c := gather(t, "shm", kind, count)
			check := func(when string) {
				here, there := c.each()
				t.Logf("%s: %.0f bytes for each of %d connections, %.0f at the server", when, here, count, there)
				if !raceDetector && (here > mostAtRest || there > mostAtRest) {
					t.Errorf("that is more than %d", mostAtRest)
				}
			}
			check("never used")
			before := memory()
			c.everyone()
			c.grown += int64(memory() - before)
			check("used")
		})
	}
}

// Ten busy connections among ten, and among a thousand. A message is one there and
// one back.
func BenchmarkCrowd(b *testing.B) {
	for _, kind := range []string{packets, streams, conns} {
		for _, count := range []int{busy, 1000} {
			b.Run(fmt.Sprintf("%s/%d", kind, count), func(b *testing.B) {
				c := gather(b, "shm", kind, count)
				c.rounds(1000)
				b.ResetTimer()
				c.rounds(b.N)
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/busy, "ns/message")
			})
		}
	}
}
