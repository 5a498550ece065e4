// Command busy computes until it is ended. bench/ordinary -busy runs one for each core.
package main

func main() {
	for n := uint64(1); n != 0; n = n*6364136223846793005 | 1 {
	}
}
