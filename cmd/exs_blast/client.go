package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"gomx/bench/stats"
)

// result is what was measured at one point.
type result struct {
	Mode        string         `json:"mode"`
	Type        string         `json:"type"`
	Transport   string         `json:"transport"`
	Length      int            `json:"length"`
	InFlight    int            `json:"in_flight"`
	Count       int            `json:"count"`                        // messages, or round trips
	Throughput  float64        `json:"throughput_MBps,omitempty"`    // 10^6 bytes a second
	Rate        float64        `json:"rate_Mmsgps,omitempty"`        // 10^6 messages a second
	Latency     *stats.Summary `json:"latency_us,omitempty"`         // half a round trip
	SenderCPU   float64        `json:"sender_cpu_percent,omitempty"` // of one core
	ReceiverCPU float64        `json:"receiver_cpu_percent,omitempty"`
	CPUPerByte  float64        `json:"cpu_ns_per_byte,omitempty"` // of both sides
}

// client measures with a server.
type client struct {
	w      *wire
	remote netip.Addr
	time   time.Duration // that a point takes
	count  int           // messages of a point; 0: as many as the time allows
}

// dialServer connects to a server's port.
func dialServer(ctx context.Context, host, port string) (*client, error) {
	d := net.Dialer{Timeout: patience}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("%w\n    start a server there: exs_blast -s -p %s", err, port)
	}
	remote, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &client{w: newWire(conn), remote: remote.Addr().Unmap()}, nil
}

// measure measures one point.
func (c *client) measure(ctx context.Context, o *order) (r result, err error) {
	defer context.AfterFunc(ctx, func() { _ = c.w.Close() })()
	if err := c.w.send(o); err != nil {
		return r, err
	}
	answer, err := c.w.answer()
	if err != nil {
		return r, err
	}
	conn, err := o.dial(netip.AddrPortFrom(c.remote, answer.Port))
	if err != nil {
		return r, err
	}
	defer context.AfterFunc(ctx, conn.abort)()
	r, err = c.runs(conn, o)
	if err != nil {
		conn.abort()
		return r, c.blame(err)
	}
	return r, errors.Join(c.w.send(run{}), conn.close())
}

// blame finds out whether the other side knows better why something failed.
func (c *client) blame(err error) error {
	_ = c.w.SetReadDeadline(time.Now().Add(time.Second))
	for !errors.Is(err, errCorrupt) {
		_, theirs := c.w.answer()
		switch {
		case theirs == nil:
			continue // an answer that nobody has taken
		case errors.Is(theirs, errCorrupt):
			return theirs
		}
		return fmt.Errorf("%w (%w)", err, theirs)
	}
	return err
}

// runs makes short runs, whose contents are checked, until it knows how many
// messages there is time for, and then the one that counts.
func (c *client) runs(conn course, o *order) (result, error) {
	count := 2 * o.InFlight
	for c.count == 0 {
		m, err := c.run(conn, o, run{count, true})
		if err != nil {
			return result{}, err
		}
		if m.elapsed >= c.time/8 || count > 1<<28 {
			// Without the check it is quicker than that.
			if m, err = c.run(conn, o, run{Count: count}); err != nil {
				return result{}, err
			}
			count = max(2*o.InFlight, int(float64(count)*float64(c.time)/float64(m.elapsed)))
			break
		}
		count *= 4
	}
	if c.count > 0 {
		count = c.count
		if _, err := c.run(conn, o, run{min(count, 4*o.InFlight), true}); err != nil {
			return result{}, err
		}
	}
	m, err := c.run(conn, o, run{Count: count})
	if err != nil {
		return result{}, err
	}
	return m.result(conn, o, count), nil
}

// measurement is what one run took.
type measurement struct {
	elapsed, sender, receiver time.Duration
	samples                   []float64 // half round trips, microseconds
}

func (c *client) run(conn course, o *order, r run) (m measurement, err error) {
	if err := c.w.send(r); err != nil {
		return m, err
	}
	if _, err := c.w.answer(); err != nil {
		return m, err
	}
	before, began := cpuTime(), time.Now()
	if o.Latency {
		m.samples, err = roundTrips(conn, r)
	} else {
		err = conn.blast(r.Count, r.Check)
	}
	if err != nil {
		return m, err
	}
	m.elapsed, m.sender = max(1, time.Since(began)), cpuTime()-before
	answer, err := c.w.answer()
	m.receiver = answer.CPU
	return m, err
}

// mostBatches bounds how many times the clock is read between round trips.
const mostBatches = 1000

// roundTrips makes the round trips of a run in batches, so that reading the clock does
// not show.
func roundTrips(conn course, r run) (samples []float64, err error) {
	size := max(1, (r.Count+mostBatches-1)/mostBatches)
	samples = make([]float64, 0, r.Count/size+1)
	began := time.Now()
	for first := 0; first < r.Count; first += size {
		n := min(size, r.Count-first)
		if err := conn.lead(first, n, r.Check); err != nil {
			return nil, err
		}
		now := time.Now()
		samples = append(samples, float64(now.Sub(began))/float64(2*n)/1e3)
		began = now
	}
	return samples, nil
}

func (m *measurement) result(conn course, o *order, count int) result {
	r := result{
		Mode: o.Mode, Type: o.Type, Transport: conn.transport(), Length: o.Length, InFlight: o.InFlight, Count: count,
		SenderCPU:   100 * float64(m.sender) / float64(m.elapsed),
		ReceiverCPU: 100 * float64(m.receiver) / float64(m.elapsed),
		CPUPerByte:  float64(m.sender+m.receiver) / float64(count) / float64(o.Length),
	}
	if o.Latency {
		s := stats.Summarize(m.samples)
		r.Latency = &s
		r.CPUPerByte /= 2
		return r
	}
	seconds := m.elapsed.Seconds()
	r.Rate = float64(count) / seconds / 1e6
	r.Throughput = r.Rate * float64(o.Length)
	return r
}
