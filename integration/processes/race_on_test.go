//go:build race

package processes_test

// raceDetector is on: it takes memory for its own purposes.
const raceDetector = true
