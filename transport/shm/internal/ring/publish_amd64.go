package ring

// publish stores the word that makes a slot, or the reader's progress, visible.
// Stores are not reordered with earlier loads and stores on amd64, so a plain
// one will do; the race detector does not watch mapped memory.
func publish(p *uint64, v uint64) { *p = v }
