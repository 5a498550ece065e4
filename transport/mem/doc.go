// Package mem is the medium inside one process: endpoints that share a Network
// exchange frames through bounded queues. It is the reference for those who add
// a medium, and the one to test an engine with.
//
// An ordinary Network is ordered and reliable, offers Pull, and may be used from
// many goroutines. Its links may be made to heal, and its pulls to take time, as
// those of RDMA do. A Network with Faults loses, duplicates, reorders and delays
// frames as its seed decides; driven by one goroutine it does the same thing
// each time. It knows no clock: delays count the Poll calls of the receiver.
//
// Read network.go and port.go first. A link has a lane each way (lane.go), which
// is all that the two sides share besides the table of what they export
// (exports.go, pull.go).
//
// Locks: Network.mu guards which ports and links there are and is taken before
// any other. Each lane, each table and each list of pulls has a mutex of its own;
// a list's is taken before a table's. None is held while a Handler, Events or
// Doorbell is called.
package mem
