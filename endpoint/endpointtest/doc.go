// Package endpointtest runs engines of package endpoint without goroutines and
// without a clock: a World of endpoints, joined by links whose frames lie in
// queues until the test delivers, drops, doubles or moves them.
//
// On top of that stand three kinds of test:
//
//   - Trace runs scripts of text commands against golden output (trace.go, and one
//     commands_*.go for each family of commands). The scripts are in
//     endpoint/testdata.
//   - Pair plays a history decoded from bytes between two endpoints, and checks
//     the outcome against Twin, a naive matching of messages and receives.
//   - World.Leftovers says what a finished history has left behind, which must be
//     nothing.
//
// Nothing here may be used from two goroutines at once. Read world.go first.
package endpointtest
