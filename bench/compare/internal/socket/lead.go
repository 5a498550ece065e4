package socket

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"

	"gomx/bench/stats"
)

// Variable names the environment variable that makes a program that calls Main a
// side of the measurement. Its value is LeadRole, or that of the other side.
const Variable = "GOMX_COMPARE_SOCKET"

// Values of Variable.
const (
	LeadRole   = "lead"
	followRole = "follow"
)

// result is the line printed for a length, with the fields of mx_pingpong.
type result struct {
	Transport  string         `json:"transport"`
	Length     int            `json:"length"`
	Iterations int            `json:"iterations"`
	Window     int            `json:"window,omitempty"`
	Latency    *stats.Summary `json:"latency_us,omitempty"`
	Bandwidth  float64        `json:"bandwidth_MBps"`
	Rate       float64        `json:"rate_Mmsgps,omitempty"`
}

// IsChild reports whether this process is to be a side, and so to call Main
// before anything else.
func IsChild() bool { return os.Getenv(Variable) != "" }

// Main is the whole of a process that is a side. It takes the flags that all
// measuring programs share (-L, -N, -window, -pin), prints one JSON object a line
// and returns the exit status.
func Main(args []string, stdout, stderr io.Writer) int {
	// The thread is bound to a core, and must be nobody else's.
	runtime.LockOSThread()
	run := follow
	if os.Getenv(Variable) == LeadRole {
		run = lead
	}
	p, err := parsePlan(args)
	if err == nil {
		err = run(p, args, stdout)
	}
	if err != nil {
		fmt.Fprintf(stderr, "socket: %v\n", err)
		return 1
	}
	return 0
}

// lead makes the connection, starts the other side, measures and prints.
func lead(p *plan, args []string, stdout io.Writer) (err error) {
	if err := pinThread(p.cores[0]); err != nil {
		return err
	}
	ours, theirs, err := connect()
	if err != nil {
		return err
	}
	defer ours.hangUp()
	partner, err := startPartner(args, theirs)
	if err != nil {
		return err
	}
	defer func() {
		// A partner that still expects something learns of our end from the connection.
		ours.hangUp()
		if ended := partner.Wait(); err == nil {
			err = ended
		}
	}()
	s := newSide(p, ours, sendFirst)
	encoder := json.NewEncoder(stdout)
	for _, length := range p.lengths {
		r, err := s.measure(length)
		if err != nil {
			return err
		}
		if err := encoder.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// startPartner starts this program again as the other side, which inherits the
// connection, and closes our copy of it.
func startPartner(args []string, theirs conn) (*exec.Cmd, error) {
	file := theirs.file()
	defer file.Close()
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	partner := exec.Command(program, args...)
	partner.Env = append(os.Environ(), Variable+"="+followRole)
	partner.ExtraFiles = []*os.File{file}
	partner.Stderr = os.Stderr
	return partner, partner.Start()
}

func (s *side) measure(length int) (*result, error) {
	count, size := s.plan.batchSizes()
	if err := s.exchanges(length, warmupBatches*size); err != nil {
		return nil, err
	}
	samples := make([]float64, count)
	for b := range samples {
		start := time.Now()
		if err := s.exchanges(length, size); err != nil {
			return nil, err
		}
		samples[b] = float64(time.Since(start)) / float64(size) / 1e3
	}
	return s.plan.result(length, count*size, samples), nil
}

// result summarises the microseconds of an exchange.
func (p *plan) result(length, iterations int, samples []float64) *result {
	r := &result{Transport: "tcp", Length: length, Iterations: iterations, Window: p.window}
	if p.window > 0 {
		r.Rate = float64(p.window) / stats.Median(samples)
		r.Bandwidth = r.Rate * float64(length)
		return r
	}
	for i := range samples {
		samples[i] /= 2
	}
	latency := stats.Summarize(samples)
	r.Latency, r.Bandwidth = &latency, float64(length)/latency.P50
	return r
}
