package stream

// Lose says that the peer is gone: only what is landing or being fetched can still come. Receives get what has come, up to
// the first byte that is missing, and are then aborted; behind the end that the peer has announced they finish as OK.
func (r *Receiver) Lose() {
	r.lost = true
	r.part()
}

// Exhausted reports that all has been received of a peer that is gone, and that this was not the end of the stream.
func (r *Receiver) Exhausted() bool {
	return r.lost && !r.fin && r.buffer.held == 0 && r.adverts.len() == 0
}

// Unfetched says that the bytes of a ToFetch will not come, because the peer is gone. What lies behind them is lost as well,
// and with it the end of the stream.
func (r *Receiver) Unfetched(ticket uint32) {
	if r.buffer.cut(ticket) {
		r.fin, r.strays = false, min(r.strays, r.buffer.held)
	}
	r.part()
}
