//go:build linux

package bell

import (
	"math"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	futexWait = 0 // not the private kinds: the word is shared between processes
	futexWake = 1

	membarrierQuery                   = 0
	membarrierGlobalExpedited         = 1 << 1
	membarrierRegisterGlobalExpedited = 1 << 2
	membarrierOwnExpedited            = 1 << 3
	membarrierRegisterOwnExpedited    = 1 << 4
)

// sleepOn blocks while the word is still value, until woken or d has passed
// (d < 0: for ever). It may return early. The scheduler knows that we block.
func sleepOn(word *uint32, value uint32, d time.Duration) {
	if d < 0 {
		_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(value), 0, 0, 0)
		return
	}
	limit := unix.NsecToTimespec(int64(d))
	_, _, _ = unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWait, uintptr(value),
		uintptr(unsafe.Pointer(&limit)), 0, 0)
}

// yieldCore lets the kernel run another thread that is ready.
func yieldCore() { _, _, _ = unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// wakeAll wakes whoever sleeps on the word. It doesn't block, so the scheduler
// needn't know.
func wakeAll(word *uint32) {
	_, _, _ = unix.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake, math.MaxInt32, 0, 0, 0)
}

var one = [8]byte{1} // either byte order makes it a number above 0

// writeEvent makes the eventfd readable. A full one, which it refuses, is
// readable already.
func writeEvent(fd int) {
	_, _, _ = unix.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&one)), uintptr(len(one)))
}

// drainEvent makes an eventfd or a timer unreadable.
func drainEvent(fd int) {
	var count [8]byte
	_, _, _ = unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(&count)), uintptr(len(count)))
}

// sleepOnEvents blocks until something in an epoll descriptor is readable or d has
// passed (d < 0: for ever), and returns what is. It may return early.
func sleepOnEvents(all int, events []unix.EpollEvent, d time.Duration) int {
	if d >= 0 && d < time.Millisecond { // too short for epoll
		limit := unix.NsecToTimespec(int64(d))
		poll := [1]unix.PollFd{{Fd: int32(all), Events: unix.POLLIN}}
		_, _ = unix.Ppoll(poll[:], &limit, nil)
		return ready(all, events)
	}
	ms := -1
	if d >= 0 {
		ms = int(d / time.Millisecond)
	}
	n, _ := unix.EpollWait(all, events, ms)
	return max(n, 0) // -1: a signal has interrupted it
}

// setTimer has a timer end once, d from now.
func setTimer(fd int, d time.Duration) {
	to := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	_, _, _ = unix.RawSyscall6(unix.SYS_TIMERFD_SETTIME, uintptr(fd), 0, uintptr(unsafe.Pointer(&to)), 0, 0, 0)
}

// ready returns what is readable in an epoll descriptor, without waiting.
func ready(all int, events []unix.EpollEvent) int {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(all), uintptr(unsafe.Pointer(&events[0])),
		uintptr(len(events)), 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// send rings at a peer's post. It waits for nothing, whatever has been done to the
// socket. If there is no room, what fills it has made the post readable already.
func send(socket int, secret *[secretSize]byte) {
	_, _, _ = unix.RawSyscall6(unix.SYS_SENDTO, uintptr(socket), uintptr(unsafe.Pointer(secret)), secretSize,
		unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
}

// receive receives a datagram without waiting, and returns the bytes of it and of its
// control data; n < 0: there was none.
func receive(socket int, into, control []byte) (n, got int) {
	parts := unix.Iovec{Base: &into[0]}
	parts.SetLen(len(into))
	head := unix.Msghdr{Iov: &parts, Control: &control[0]}
	head.SetIovlen(1)
	head.SetControllen(len(control))
	r, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(socket), uintptr(unsafe.Pointer(&head)),
		unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
	if errno != 0 {
		return -1, 0
	}
	return int(r), int(head.Controllen)
}

// registered registers this process for the barriers of its peers, once, which takes
// milliseconds in a process of several threads. False
// means that there is no such barrier here: an old kernel, or a filter of
// system calls.
var registered = sync.OnceValue(func() bool {
	return register(membarrierGlobalExpedited, membarrierRegisterGlobalExpedited) && barrier()
})

// ownRegistered is the same for barriers of this process alone.
var ownRegistered = sync.OnceValue(func() bool {
	return register(membarrierOwnExpedited, membarrierRegisterOwnExpedited)
})

// register registers this process for a kind of barrier, if the kernel has it.
func register(kind, how uintptr) bool {
	have, _, errno := unix.Syscall(unix.SYS_MEMBARRIER, membarrierQuery, 0, 0)
	return errno == 0 && have&kind != 0 && have&how != 0 && membarrier(how)
}

// barrier makes all running threads of all registered processes execute a full
// memory barrier before it returns.
func barrier() bool { return membarrier(membarrierGlobalExpedited) }

// ownBarrier is barrier for the threads of this process.
func ownBarrier() bool { return membarrier(membarrierOwnExpedited) }

func membarrier(command uintptr) bool {
	_, _, errno := unix.Syscall(unix.SYS_MEMBARRIER, command, 0, 0)
	return errno == 0
}
