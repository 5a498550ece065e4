//go:build !race

package mx_test

const raceDetector = false
