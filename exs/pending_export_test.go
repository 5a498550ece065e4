package exs

// Pending is how many handshakes are pending at the listener.
func (l *Listener) Pending() int {
	s := &l.s.post.pending
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n
}
