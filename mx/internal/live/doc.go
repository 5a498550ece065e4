// Package live lets processes of one user ask each other a question: a process serves, and a tool lists those that do and
// asks one. What is asked and answered is the business of its users.
//
// On Linux the place to meet is a socket with an abstract name that has the user, the process and a random number in it.
// Nobody can take such a name before its owner does, there is no file that stays behind, and the kernel removes the name with the process.
// But anybody can take one that looks like it, so names prove nothing: both sides ask the kernel who is at the other end (SO_PEERCRED), and hang
// up on any but their own user or root, and on those who have the name of another user. Everything that is read has a bound in bytes and in time,
// what root reads of other users also by what its values take as memory, and a server serves few at once. The descriptors
// that system calls are given belong to connections that are open for as long as the call.
package live
