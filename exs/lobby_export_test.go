package exs

// Guests is how many are in their handshake with the listener.
func (l *Listener) Guests() int {
	y := &l.s.post.lobby
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.n
}
