//go:build mx_nocounters

package match

// Counting says whether what happens to each message is counted.
const Counting = false
