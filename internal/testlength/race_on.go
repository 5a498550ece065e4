//go:build race

package testlength

const raceDetector = true
