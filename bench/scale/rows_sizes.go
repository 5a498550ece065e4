package main

import (
	"fmt"

	"gomx/bench/internal/turns"
)

const gib = 1 << 30

// sizeRows are those of a message there and back, beside a copy in memory.
func sizeRows(n counts) []turns.Row {
	const few = 10
	sizes := points(few, 1, 8, 64, 512, 4<<10, 16<<10, 64<<10, 256<<10, 2<<20, 16<<20, 128<<20, gib)
	return curve(turns.Curve{Picture: "sizes", Panel: "Half a round trip"}, sizes, func(size int) turns.Row {
		r := turns.Row{
			Name:    "mpi ping-pong " + turns.Size(size),
			Program: "mpi_pingpong", Args: []string{"-length", fmt.Sprint(size), "-count", n.of(trips(size))}, Ranks: 2, MPIs: true,
			Traffic: turns.Pings, Length: size, Memory: int64(size) * 4,
		}
		if size >= 16<<10 && size <= 256<<10 {
			r.Bar = turns.AtMost(2, turns.Bare)
		}
		return r
	})
}

// trips is how many round trips take some tenths of a second.
func trips(size int) int { return max(3, min(200_000, gib/max(size/2, 1))) }
