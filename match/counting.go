//go:build !mx_nocounters

package match

// Counting says whether what happens to each message is counted, by this package and by the engine. Only a build with the tag
// mx_nocounters does not, to measure what counting costs.
const Counting = true
