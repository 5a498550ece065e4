//go:build mx_nocounters

package match

// Counting says whether this package and the engine count messages.
const Counting = false
