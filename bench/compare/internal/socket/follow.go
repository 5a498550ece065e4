package socket

import "io"

// follow answers all that lead sends.
func follow(p *plan, _ []string, _ io.Writer) error {
	if err := pinThread(p.cores[1]); err != nil {
		return err
	}
	s := newSide(p, inherited(), answer)
	defer s.conn.hangUp()
	count, size := p.batchSizes()
	for _, length := range p.lengths {
		if err := s.exchanges(length, (warmupBatches+count)*size); err != nil {
			return err
		}
	}
	return nil
}
