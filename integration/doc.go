// Package integration holds tests that need several processes: what happens to
// the others when one is killed, stopped, hostile or restricted. The tests run
// their own binary again, as one of the roles that they define.
//
//	processes/  kills, stops, restricted systems, sleeping and progress
//	hostile/    peers that don't keep to the protocol
//	tcp/        processes that meet over TCP: cuts, kills, stops, crowds, strangers
//	exs/        Extended Sockets: crowds of connections, kills, cuts below a connection
//	netns/      hosts made of network namespaces, for root
//	mpi/        ranks that are killed, stopped, or leave, while others wait for them in all ways
//	launch/     ranks started by Hydra, by Slurm, by hand, on this host and on several
//	newcomer/   what README.md, docs/tutorial, docs/tools and docs/errors.md say, done word for word
//	sim/        engines by the thousand over a simulated network, from seeds
//	rdmavm/     a virtual machine with Soft-RoCE, in which other tests run
package integration
