//go:build !amd64

package tracefile

const hasTicks = false

func ticks() int64 { return 0 }
