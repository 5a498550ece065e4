// Package netns makes hosts for tests: network namespaces with a name, an IPv4
// and an IPv6 address each, joined by veth pairs to a bridge that lies in a
// namespace of its own. Nothing of the machine's own network is touched.
//
// Only root can do that, with the ip command of iproute2. A test on a machine
// that lacks something is skipped, and says what. Names carry the process id, so
// that a run removes what a crashed one has left.
package netns
