package main

import (
	"runtime"
	"time"

	"gomx/bench/stats"
	"gomx/mpi"
)

const (
	batches = 21
	warm    = 3 // batches before those

	settling = 400 * time.Millisecond
)

// meter measures calls of one rank.
type meter struct {
	world                  *mpi.Comm
	batch                  time.Duration
	from, to               []byte
	numbersFrom, numbersTo []float64
	took                   [1]float64
	turn                   int
}

// result is what rank 0 prints for a call.
type result struct {
	Transport string        `json:"transport"`
	Call      string        `json:"call"`
	Length    int           `json:"length"`
	Ranks     int           `json:"ranks"`
	Latency   stats.Summary `json:"latency_us"`
	Algorithm string        `json:"algorithm,omitempty"`
	Library   string        `json:"library"`
}

func newMeter(world *mpi.Comm, o *options) *meter {
	longest := 1
	for _, c := range o.calls {
		longest = max(longest, c.bytes)
	}
	room := longest * world.Size()
	return &meter{
		world: world, batch: o.batch, from: make([]byte, room), to: make([]byte, room),
		numbersFrom: make([]float64, longest/8+1), numbersTo: make([]float64, longest/8+1),
	}
}

// settle has the ranks talk until the system has spread them over the cores.
func (m *meter) settle() error {
	start := time.Now()
	for more := []bool{true}; more[0]; {
		if err := m.world.Barrier(); err != nil {
			return err
		}
		more[0] = time.Since(start) < settling
		if err := mpi.Bcast(m.world, more, 0); err != nil {
			return err
		}
	}
	return nil
}

func (m *meter) measure(c call) (*result, error) {
	op, _ := find(c.name)
	count, err := m.calibrate(op, c.bytes)
	if err != nil {
		return nil, err
	}
	runtime.GC()
	var samples []float64
	for b := range warm + batches {
		us, err := m.time(op, c.bytes, count)
		if err != nil {
			return nil, err
		}
		if b >= warm {
			samples = append(samples, us)
		}
	}
	return &result{
		Transport: "mpi", Call: c.name, Length: c.bytes, Ranks: m.world.Size(),
		Latency: stats.Summarize(samples), Algorithm: m.world.Algorithm(c.name, c.bytes), Library: "gomx",
	}, nil
}

// time returns the microseconds that a call takes in a batch of so many, on the slowest rank.
func (m *meter) time(op operation, bytes, count int) (float64, error) {
	if err := m.world.Barrier(); err != nil {
		return 0, err
	}
	start := time.Now()
	for range count {
		if err := op.run(m, bytes); err != nil {
			return 0, err
		}
	}
	m.took[0] = float64(time.Since(start).Nanoseconds()) / 1000 / float64(count)
	err := mpi.Allreduce(m.world, m.took[:], m.took[:], mpi.Max)
	return m.took[0], err
}

// calibrate returns how many calls make a batch long enough; an even number.
func (m *meter) calibrate(op operation, bytes int) (int, error) {
	for count := 2; ; count *= 2 {
		us, err := m.time(op, bytes, count)
		if took := time.Duration(us * float64(count) * 1000); err != nil || took >= m.batch || count >= 1<<24 {
			return count, err
		}
	}
}
