package main

import (
	"time"

	"gomx/bench/internal/turns"
	"gomx/bench/plot"
)

const helpText = `compare measures programs as users write them, each beside its counterpart: the same program in C on the MPIs of
this machine, the same sockets over TCP and over Unix sockets, the same program of another checkout.

    go run ./bench/compare
    go run ./bench/compare -only 'ping-pong' -rounds 9
    go run ./bench/compare -only '^mpi ping-pong' -markdown -plot latency.svg
    go run ./bench/compare -over tcp -only '^mpi'
    go run ./bench/compare -against ../older

Leave the machine alone meanwhile: whatever else runs shows in the figures.

`

// compare is the whole program.
var compare = turns.Program{
	Name: "compare", Help: helpText, Rounds: 7, Timeout: 30 * time.Second, Rows: rows,
	Sheets: []turns.Sheet{
		{Title: "Ranks", Of: func(r turns.Row) bool { return r.MPIs }},
		{Title: "Connections", Of: func(r turns.Row) bool { return r.Sockets }},
		{Title: "Endpoints, and what stands alone", Of: func(r turns.Row) bool { return !r.MPIs && !r.Sockets }},
	},
	Plot:  "draw latency and bandwidth of the ping-pongs of package mpi over size into `file`, .svg or .png",
	Draws: plot.CheckPath, Draw: draw,
}

func main() { compare.Main() }
