// Package process has what starting ranks needs of the system: a pair of connected sockets of which
// a child inherits one, process groups, children that end with their parent, and cores.
//
// The rules: both ends of a pair close on exec, so that only the child that is meant gets one (os/exec
// opens it again). A group is signalled only while its first process has not been waited for, or has
// members still, for so long nobody else gets its number: the caller sees to that. Cores are those of a thread, which the caller has locked.
package process
