package mem

// Ports, lanes and frames that different goroutines use lie beside each other in memory. They fill whole cache lines, so that two endpoints
// which have nothing to do with each other do not slow each other down.
const (
	cacheLine = 64
	portFill  = 48
	laneFill  = 48
	frameFill = 48
)
