//go:build !mx_nocounters

package match

// Counting says whether this package and the engine count messages. A build with the tag mx_nocounters does not count them, in order
// to measure the cost of counting.
const Counting = true
