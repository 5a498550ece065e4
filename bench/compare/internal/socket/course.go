package socket

// batches are timed one by one, so that reading the clock does not show; two more
// before them warm up.
const (
	batches       = 21
	warmupBatches = 2
)

// batchSizes returns how many batches there are, and how many exchanges are in
// one.
func (p *plan) batchSizes() (count, size int) {
	if p.iterations < batches {
		return p.iterations, 1
	}
	return batches, p.iterations / batches
}

// exchange is one side's part of a message and its answer.
type exchange func(c conn, buffer []byte, out, back int) error

func sendFirst(c conn, buffer []byte, out, back int) error {
	if err := c.write(buffer[:out]); err != nil {
		return err
	}
	return c.read(buffer[:back])
}

func answer(c conn, buffer []byte, out, back int) error {
	if err := c.read(buffer[:out]); err != nil {
		return err
	}
	return c.write(buffer[:back])
}

// side is one end of the connection with its memory.
type side struct {
	plan   *plan
	conn   conn
	buffer []byte
	do     exchange
}

func newSide(p *plan, c conn, do exchange) *side {
	s := &side{plan: p, conn: c, buffer: make([]byte, p.longest()), do: do}
	for i := range s.buffer { // so that no page is touched first while time is taken
		s.buffer[i] = byte(i)
	}
	return s
}

func (s *side) exchanges(length, count int) error {
	out, back := s.plan.onWire(length)
	for range count {
		if err := s.do(s.conn, s.buffer, out, back); err != nil {
			return err
		}
	}
	return nil
}
