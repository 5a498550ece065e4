// Package sim plays histories of many endpoints over a simulated network and
// checks what must hold of each: every message is delivered once, in order and
// intact, every request completes once and with a status that fits, all of them
// complete when the network has healed, and nothing is left behind.
//
// The engines are real (package endpoint), the network is mem.Sim, time is virtual,
// and all of it runs in one goroutine. A seed decides everything: the medium, the number of
// endpoints, what they do, and what goes wrong. So a seed that fails once fails
// always:
//
//	go test ./integration/sim -run TestSeeds -sim.seed=N
//
// plan.go says what a seed decides. world.go and node.go drive the engines,
// app*.go is what their programs do, faults.go what goes wrong. message.go, flow.go
// and check.go hold the invariants.
//
// A World is for one goroutine. Several may run at once.
package sim
