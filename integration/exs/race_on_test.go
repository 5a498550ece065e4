//go:build race

package exs_test

// raceDetector is on: stacks are larger.
const raceDetector = true
