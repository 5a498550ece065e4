// Package transporttest says in code what every medium must do. Each medium runs
// the suite from a conformance_test.go of some twenty lines:
//
//	transporttest.Run(t, transporttest.Factory{Name: "mem", New: ..., NewBell: ...})
//
// The table in suite.go lists the subtests and what of them applies to a medium that loses
// or reorders; world.go has the endpoints they play with.
//
// Links must have room for ten small frames, and frames for 1000 bytes.
//
// The suite opens all endpoints in one process. What only shows between
// processes, such as the death of one, each medium tests for itself.
package transporttest
