//go:build !race

package testlength

const raceDetector = false
