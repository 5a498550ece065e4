//go:build !race

package exs_test

const raceDetector = false
