//go:build race

package exs_test

// raceDetector is on: it allocates for its own purposes.
const raceDetector = true
