//go:build race

package mx_test

// raceDetector is on: it allocates for its own purposes.
const raceDetector = true
