package tracefile

const hasTicks = true

// ticks reads the counter of the processor.
func ticks() int64
