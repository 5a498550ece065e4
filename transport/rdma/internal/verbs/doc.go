// Package verbs calls libibverbs, the library behind which RDMA devices of all makers
// look the same. It is opened at run time with dlopen, and declared here anew
// (abi.h), so that building needs neither its headers nor the library itself.
//
// The parts, in the order in which one needs them: Load, Open a Device, a Domain of
// it, Regions of memory in that, a Queue of completions and an Inbox of receives,
// a QP that is connected to one of another host. Sends and Receives collect work, so
// that one crossing into C posts all of it; Queue.Poll fetches many completions in
// one, too. None of these three allocates.
//
// What is made of something must be closed before it. Devices and Domains may be
// used from several goroutines at once; anything else from one at a time.
package verbs
