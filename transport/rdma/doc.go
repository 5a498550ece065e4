// Package rdma is a transport over the verbs of RDMA devices: InfiniBand, and RoCE
// on Ethernet. It also finds the RDMA ports of this machine and says whether they
// can be used: which device, which port, which address of it (GID), and why not.
//
// Peers are introduced to each other over TCP, by a Listener of transport/tcp
// (exchange.go). The connection stays, and its end is the peer's. Then frames are
// messages of a reliable connection between two queue pairs:
//
//	send.go      frames go out inline, or out of a registered slot
//	receives.go  they come into slots of one queue that all peers share
//	poll.go      one crossing into C takes many completions
//	work.go      what a queue pair has been asked to do, and what is finished
//
// A side sends no more frames than the other side has granted credits for. Credits
// ride back on frames, or alone if there are none.
//
// The memory of a large message is exported by its sender (exports.go), and the receiver
// fetches it with RDMA reads, without a copy (pull.go). The segments of the two sides may
// differ in size and number. What memory a device may use, and for how long, is for memory.go.
//
// A link whose queue pair fails, or whose peer is gone, goes down; the engine makes
// another and retransmits what was lost (Caps.Heals). Closing is in closing.go.
//
// To find ports, begin with Ports, which reads what the kernel says and works in any
// build, then Port.Choose, Available and Look.
package rdma
