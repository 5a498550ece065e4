// Package bell is the doorbell of shared memory: an endpoint's Bell wakes its
// sleeper, and its peers hold a Remote each. Linux only; elsewhere the package
// is empty.
//
// The rules it relies on:
//
//   - A bell is a control page (a sealed memfd, see package segment), an eventfd that
//     is the owner's alone, and a datagram socket, the post, that is his alone as well.
//     A peer is invited with the page and with a socket of its own, made for it and
//     connected to the post. It maps the page for as long as its Remote is open. Each
//     side unmaps its own mapping.
//   - The bell's word lies in the page at offset 64, alone on its cache line, so
//     that looking at it after every message stays a hit in the sender's cache.
//   - All peers can write all of the page, so there is nothing in it but the word.
//     What else a peer must know comes as a datagram in its socket.
//   - No two processes use one open file description for anything that can block or
//     that takes something away: its flags belong to all who have it. A peer's
//     socket is nobody else's, and to send and receive we ask each time that it must
//     not wait. A wake-up by futex can't block.
//   - Damage to the page can delay a wake-up by a peer until the bound of all sleeps
//     has passed, or wake for nothing; it can't break memory, nor keep Ring by the
//     owner's own process from waking. A peer's socket that is full, closed or shut
//     down is that peer's own.
//   - The system drops datagrams that don't begin with the secret of the bell, for
//     the post has a name that everybody on the host may see.
//   - Where the system refuses memory to share, the word is on the Go heap, and nobody
//     can be invited (Lonely).
//
// # The word
//
// Its low two bits are 0 while the owner is awake. Arm makes it generation<<3 | way, the way
// being 1 for a futex (on the word itself) or 2 for the post. Whoever rings
//
//	(1) compares and swaps "armed" for "armed and ringing" (+4),
//	(2) makes the system call that wakes,
//	(3) compares and swaps "armed and ringing" for "fencing".
//
// "Fencing" is 64<<3: the owner is awake, and whoever looks fences. Disarm makes that of "armed", too. A sender that finds it
// takes 1<<3 off by compare-and-swap, which is its fence. After 64 of them without an Arm in between the word is 0, and
// looking at it costs a load again. So an owner that sleeps after every few messages has its senders fence, which is
// cheaper than barriers of its own. The senders of an owner that polls do not fence.
//
// A sender that finds "ringing" already there goes on with (2): the other one
// may have died or been stopped in between, so no sender passes an armed word
// without its own system call. The generation keeps the late steps of a
// slow sender away from a bell armed anew.
//
// # Why no wake-up is lost
//
// The sleeper does this:
//
//	S1 word = armed (read-modify-write)   S2 barrier, if the word was 0   S3 look for messages
//	S4 if there are none, sleep as long as the word is armed
//
// and a sender does this:
//
//	P1 publish the message (a plain store)   P2 load the word   P3 if not 0, ring
//
// Claim: if S3 does not see the message, the sleeper wakes.
//
// S2 is membarrier(GLOBAL_EXPEDITED), for which both processes are registered.
// It makes every thread of theirs that runs execute a full barrier at some point
// between its beginning and its end. A thread that does not run passes through such a
// barrier in the scheduler. Look at where that point B lies in the sender:
//
//   - B after P1: the message was visible to all before S2 ended. S3 sees it.
//   - B before P1, and so before P2: S1 was visible to the sender before B, so P2
//     loads what S1 stored, or something newer. Newer is either "ringing", which
//     leads to P3 like "armed" itself, or awake. That comes from another ringer that
//     has finished (2), or from Disarm. Either way the sleeper is awake or
//     about to be, and it will look again after arming again: the claim then
//     holds for the next round.
//
// If the word was not 0 before S1, there is no S2. The word has not been 0 since an earlier S1 then, here called A, which had an S2, for
// nobody but Arm makes anything else of a 0. If a sender's P2 loads a 0 from before A, the barrier of A shows as above that its message is visible
// to the S3 of A, and so to every later one. If P2 loads anything but 0, the sender goes on with a read-modify-write of the word,
// which is P3, or takes off from "fencing". All such operations on one word have one order: if the sender's comes before S1, S3 sees the
// message; if it comes after S1, it finds what S1 stored or something newer.
//
// P3 with "armed": if the compare-and-swap fails, the word has changed, and the
// sender begins at P2 again. If it succeeds, a sleeper not yet in S4 finds a word
// that is no longer armed and does not sleep, and one in S4 is woken by (2). For a
// sleeper on the futex, going to sleep and comparing the word are one step as seen
// from (1) and (2): the kernel promises it. One who waits for descriptors is woken by
// what lies in the post, which stays readable until he takes it. A ring finds no room
// there only if others have rung whom he has not taken yet; when he does he is awake,
// and looks for messages afterwards.
//
// A goroutine in Go's network poller (Pend) hears of changes only, and those before
// its wait are forgotten when the wait begins. So S4 is: begin the wait; look whether
// something is readable or the bell no longer armed; if not, wait for a change. What
// came before the look is seen by it, and what comes after it is a change, which the
// poller keeps until the goroutine is there. The look takes a datagram, so that the post is empty when the wait begins and has room for
// a ring; it needs no look at the event, since whoever writes to the event has disarmed the bell first. A change of a descriptor inside of an epoll
// descriptor is also a change of the epoll descriptor, even if that was readable before.
//
// All this holds while peers keep to it. Because a peer may not keep to it, an owner that shares the word with a peer
// sleeps for at most 500 ms at a time, and Arm sets a timer that wakes a program which sleeps on FD.
//
// Without membarrier on either side, the sender makes P2 a read-modify-write
// (Fenced). All such operations on one word have one order. If P2 comes before S1
// in it, S1 reads from P2's release sequence and S3 sees the message; if it comes
// after, P2 returns what S1 stored. The owner tells a peer when it invites it; a
// sender that could not register fences on its own account.
//
// On arm64 P1 is a store-release, and P2 a load-acquire; S1 and (1) to (3) are
// read-modify-writes. The claim needs no more of them than that each is atomic: what
// orders P1 before P2, and S1 before S3, is the barrier in S2, which is a full one on
// all cores.
//
// The owner's own goroutines ring through a word on the Go heap that goes the
// same way, so that their ring does not depend on what peers did to the page. They look at it with a
// read-modify-write, always.
//
// # Before the first peer
//
// To register for the barrier takes milliseconds, so a bell begins without: Arm has
// no S2. The first Invite waits until the process is
// registered, says that barriers are to be had, and then rings. An Arm that does not
// know it yet has asked before Invite said so, and has written its word before it asked:
// that ring wakes its sleeper, before there is a peer, and what peers load is no older than its word. All others pass a barrier, or
// find that the word has not been 0 since.
package bell
