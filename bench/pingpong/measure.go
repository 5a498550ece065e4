package pingpong

import "time"

// course is an arrangement that messages can be exchanged in: a leader with its
// follower, or an endpoint by itself.
type course interface {
	// park puts into the queues what is to lie in the way.
	park() error
	// begin makes ready for count exchanges.
	begin(length, count int) error
	// exchange makes count round trips, or windows with their answers.
	exchange(length, count int) error
	// end closes what begin began, and reports a corrupt message.
	end(length int) error
	// clear empties the queues, and returns the mean microseconds it took to
	// receive an unexpected message.
	clear() (float64, error)
}

// measure measures all lengths of the plan, and tells each result at once.
func measure(c course, p *Plan, w Watcher) error {
	if err := w.Began(); err != nil {
		return err
	}
	for _, length := range p.Lengths {
		if err := c.park(); err != nil {
			return err
		}
		each, err := warmUp(c, p, length)
		if err != nil {
			return err
		}
		r, err := sample(c, p, length, each)
		if err != nil {
			return err
		}
		result := p.result(length, r)
		if result.UnexpectedUs, err = c.clear(); err != nil {
			return err
		}
		result.UnexpectedUs = neat(result.UnexpectedUs)
		if err := w.Result(result); err != nil {
			return err
		}
	}
	return nil
}

// sample times the exchanges of a length, of which one takes about each. If their
// number is open it does so in portions, until the time is used up: a guess can
// be wrong, and the follower must know a number.
func sample(c course, p *Plan, length int, each time.Duration) (run, error) {
	count := p.Iterations
	if count == 0 {
		count = max(1, int(p.perLength()/portions/max(each, time.Nanosecond)))
	}
	var all run
	for start := time.Now(); ; {
		if err := c.begin(length, count); err != nil {
			return run{}, err
		}
		if err := all.add(c, p, length, count, each); err != nil {
			return run{}, err
		}
		if err := c.end(length); err != nil {
			return run{}, err
		}
		all.iterations += count
		if p.Iterations > 0 || (time.Since(start) >= p.perLength() && all.iterations >= fewestIterations) {
			return all, nil
		}
	}
}

// warmUp makes the exchanges that don't count, and returns about how long one
// takes, or 0 if there were none.
func warmUp(c course, p *Plan, length int) (each time.Duration, err error) {
	if p.Warmup >= 0 {
		return untimed(c, length, p.Warmup)
	}
	for count := leastWarmup; ; count *= 4 {
		if each, err = untimed(c, length, count); err != nil {
			return 0, err
		}
		if each*time.Duration(count) >= warmupTime || count >= mostWarmup {
			return each, nil
		}
	}
}

func untimed(c course, length, count int) (each time.Duration, err error) {
	if count == 0 {
		return 0, nil
	}
	if err := c.begin(length, count); err != nil {
		return 0, err
	}
	start := time.Now()
	if err := c.exchange(length, count); err != nil {
		return 0, err
	}
	each = max(1, time.Since(start)/time.Duration(count))
	return each, c.end(length)
}
