//go:build !race

package processes_test

const raceDetector = false
