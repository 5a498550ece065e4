package mx

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gomx/endpoint"
	"gomx/endpoint/driver"
	"gomx/transport"
	"gomx/transport/nic"
)

// logged is a line of a log.
type logged struct {
	level slog.Level
	text  string
	attrs map[string]string
}

// collector is a handler that keeps the lines. With a gate, each of them waits until it can be received from.
type collector struct {
	gate chan struct{}
	mu   sync.Mutex
	list []logged
}

func (c *collector) Enabled(context.Context, slog.Level) bool { return true }
func (c *collector) WithAttrs([]slog.Attr) slog.Handler       { panic("not called") }
func (c *collector) WithGroup(string) slog.Handler            { panic("not called") }

func (c *collector) Handle(_ context.Context, r slog.Record) error {
	if c.gate != nil {
		<-c.gate
	}
	line := logged{r.Level, r.Message, map[string]string{}}
	r.Attrs(func(a slog.Attr) bool { line.attrs[a.Key] = a.Value.String(); return true })
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, line)
	return nil
}

// take returns the lines since the last call.
func (c *collector) take() []logged {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := c.list
	c.list = nil
	return list
}

// logOf returns the log of an endpoint that is not open.
func logOf(c *collector) *eventLog {
	ep := &Endpoint{board: nic.Board{Name: "here:0"}, id: 7, dir: &nic.Directory{}}
	ep.log = &eventLog{logger: slog.New(c), ep: ep}
	return ep.log
}

func at(id uint32) transport.Address { return transport.Address{NIC: 1, Endpoint: id} }

// TestDocumentsNameEveryLogLine wants the table of docs/metrics.md to have the lines of the log and their levels, and no others but that
// of package mpi.
func TestDocumentsNameEveryLogLine(t *testing.T) {
	docs, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(docs), "\n## The log\n")
	section, _, _ = strings.Cut(section, "\n## ")
	documented := map[string]string{}
	for row := range strings.Lines(section) {
		cells := strings.Split(strings.TrimSpace(row), " | ")
		if len(cells) != 3 || strings.HasPrefix(cells[2], "of package mpi: ") || cells[0] == "| message" {
			continue
		}
		documented[strings.TrimPrefix(cells[0], "| ")] = cells[1]
	}
	lines := map[string]string{logBehind: "warn"}
	for _, line := range logLines {
		lines[line.text] = strings.ToLower(line.level.String())
	}
	if !maps.Equal(documented, lines) {
		t.Errorf("docs/metrics.md has\n%v\nand the log\n%v", documented, lines)
	}
}

// TestLogLines wants a line for each kind of event, with what is known of it.
func TestLogLines(t *testing.T) {
	for what, line := range logLines {
		c := &collector{}
		l := logOf(c)
		l.tell(driver.Happening{What: what, Peer: at(3), Transport: "tcp", Code: endpoint.Rejected, Cause: errors.New("oh\nno")})
		l.flush()
		got := c.take()
		if len(got) != 1 || got[0].level != line.level || got[0].text != line.text {
			t.Errorf("%s: %v", line.text, got)
			continue
		}
		want := map[string]string{"endpoint": "here:0/7", "peer": peerName(l.ep.dir, 1, 3, l.ep.said()), "transport": "tcp", "cause": "oh; no"}
		switch what {
		case driver.Connected:
			delete(want, "cause")
			want["instead_because"] = "oh; no"
		case driver.Ended, driver.TurnedDown:
			want["how"] = endpoint.Rejected.String()
		}
		if !maps.Equal(got[0].attrs, want) {
			t.Errorf("%s: %v, want %v", line.text, got[0].attrs, want)
		}
		l.tell(driver.Happening{What: what})
		l.flush()
		got = c.take()
		if len(got) != 1 || got[0].attrs["peer"]+got[0].attrs["transport"]+got[0].attrs["cause"] != "" {
			t.Errorf("%s, of which nothing is known: %v", line.text, got)
		}
	}
}

// TestLogRepeats logs the same about the same peer once a second, with the number of those that were left out.
func TestLogRepeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{}
		l := logOf(c)
		tell := func(what driver.What, peer uint32, n int) {
			for range n {
				l.tell(driver.Happening{What: what, Peer: at(peer)})
			}
		}
		expect := func(when string, more ...string) {
			t.Helper()
			synctest.Wait()
			got := c.take()
			if len(got) != len(more) {
				t.Fatalf("%s: %d lines, want %d: %v", when, len(got), len(more), got)
			}
			for i, line := range got {
				if line.attrs["more"] != more[i] {
					t.Errorf("%s: %v, want more=%s", when, line, more[i])
				}
			}
		}
		tell(driver.TurnedDown, 1, 5)
		expect("the first of five", "")
		tell(driver.TurnedDown, 2, 1)
		tell(driver.Broken, 1, 1)
		expect("another peer, and something else", "", "")
		time.Sleep(logRepeat / 2)
		tell(driver.TurnedDown, 1, 1)
		expect("before a second has passed")
		time.Sleep(logRepeat)
		expect("when it has: the last of those, which were five", "4")
		tell(driver.TurnedDown, 1, 2)
		tell(driver.TurnedDown, 2, 1)
		expect("another second has begun for one peer", "")
		time.Sleep(2 * logRepeat)
		expect("and has passed", "1")
		time.Sleep(2 * logRepeat)
		expect("nothing is left")
		tell(driver.TurnedDown, 1, 3)
		expect("the first of three", "")
		l.flush()
		expect("at the end", "1")
		if l.timer != nil {
			t.Error("a timer is left")
		}
	})
}

// TestLogOfManyTopics loses no count when so many peers are logged that some are forgotten.
func TestLogOfManyTopics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &collector{}
		l := logOf(c)
		total := 0
		for peer := range uint32(mostTopics + 10) {
			for range 2 {
				l.tell(driver.Happening{What: driver.TurnedDown, Peer: at(peer)})
				total++
			}
			synctest.Wait()
		}
		time.Sleep(2 * logRepeat)
		l.flush()
		for _, line := range c.take() {
			more, _ := strconv.Atoi(line.attrs["more"])
			lost, _ := strconv.Atoi(line.attrs["lost"])
			if total -= more + lost; line.text != logBehind {
				total--
			}
		}
		if total != 0 {
			t.Errorf("%d are neither logged nor counted", total)
		}
	})
}

// TestLogBehind drops what comes while the handler is far behind, and says how much that was.
func TestLogBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const lost = 17
		c := &collector{gate: make(chan struct{})}
		l := logOf(c)
		l.tell(driver.Happening{What: driver.Broken, Peer: at(0)})
		synctest.Wait() // the handler has it, and waits
		for i := range uint32(logQueue + lost) {
			l.tell(driver.Happening{What: driver.Broken, Peer: at(1 + i)})
		}
		close(c.gate)
		l.flush()
		got := c.take()
		if len(got) != 1+logQueue+1 {
			t.Fatalf("%d lines", len(got))
		}
		last := got[len(got)-1]
		if last.text != logBehind || last.level != slog.LevelWarn || last.attrs["lost"] != "17" || last.attrs["endpoint"] != "here:0/7" {
			t.Errorf("%v", last)
		}
	})
}
