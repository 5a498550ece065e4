// Package rdma finds the RDMA ports of this machine and says whether they can be
// used: which device, which port, which address of it (GID), and why not.
//
// Begin with Ports, which reads what the kernel says and works in any build, then
// Port.Choose and Available.
//
// A transport that sends frames is not here yet. What it will stand on is:
// internal/verbs (queue pairs, registered memory, completions), internal/slots (a
// pool of such memory), internal/gather (reads of lists that are cut differently)
// and internal/offer (what two sides tell each other first).
package rdma
