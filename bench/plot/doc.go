// Package plot draws what a ping-pong measured: latency and bandwidth over
// message size, side by side, with logarithmic axes.
//
// It draws and writes files, and measures nothing. Functions share no state and
// may be called by any number of goroutines, as long as they write different
// files.
//
// draw.go puts the picture together, axis.go holds the scales and their ticks,
// style.go the colours and letters.
package plot
