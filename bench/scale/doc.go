// Command scale measures how what programs pay grows: with ranks that are processes and ranks that are goroutines, with peers,
// with the depth of queues, with endpoints, and with the size of messages. Each curve is one program of bench/ordinary with
// more and more of one thing, beside the same program in C on the MPIs of this machine where there is one, and beside the
// medium alone; it is drawn over that thing.
//
//	go run ./bench/scale
//	go run ./bench/scale -only . -json >all.json
//	go run ./bench/scale -from all.json -markdown -plot docs/scale
//
// The programs are built, run in turn and told about by bench/internal/turns, as those of bench/compare are. By default the
// curves end where some minutes end; -only chooses among all points, and -quick takes the first two of each curve. What
// this machine can't run says why, and the exit status is 1 only if something of gomx has failed.
//
// Where to read next: rows.go and rows_*.go say what is measured, pictures.go how it is drawn.
package main
