package main

import "gomx/bench/internal/turns"

const helpText = `scale measures how what programs pay grows: with ranks that are processes (2 to 256) and goroutines (10 to 4,000), with
peers (1 to 256), with the depth of queues (10 to 1,000,000), with endpoints (1 to 1,000 real ones, 1,000 to 100,000
simulated ones) and with the size of messages (1 B to 1 GiB), beside Open MPI, MPICH and memory alone where there are such.

    go run ./bench/scale
    go run ./bench/scale -quick
    go run ./bench/scale -only 'allreduce.*ranks' -rounds 7
    go run ./bench/scale -plot pictures
    go run ./bench/scale -only . -json >all.json
    go run ./bench/scale -from all.json -markdown -plot pictures

Without -only the largest points of each curve, which take longest, are left out. Leave the machine alone meanwhile:
whatever else runs shows in the figures.

`

// scale is the whole program.
var scale = turns.Program{
	Name: "scale", Help: helpText, Rounds: 3, Timeout: rowTimeout, Rows: rows, Quick: true, OursOnly: true,
	Sheets: sheets(),
	Plot:   "draw a picture of the curves of each kind into this `folder`, which is made if need be",
	Draws:  checkFolder, Draw: draw,
}

func main() { scale.Main() }

// sheets has a table for each picture.
func sheets() (all []turns.Sheet) {
	for _, p := range pictures {
		all = append(all, turns.Sheet{Title: p.title, Of: func(r turns.Row) bool { return r.Curve.Picture == p.name }})
	}
	return all
}
