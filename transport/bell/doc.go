// Package bell is the doorbell of shared memory: an endpoint's Bell wakes its
// sleeper, and its peers hold a Remote each. Linux only; elsewhere the package
// is empty.
//
// The rules it relies on:
//
//   - A bell is a control page (a sealed memfd, see package segment) and an
//     eventfd. The owner hands both to its peers, who map the page for as long
//     as their Remote is open. Each side unmaps its own mapping.
//   - The bell's word lies in the page at offset 64, alone on its cache line, so
//     that looking at it after every message stays a hit in the sender's cache.
//   - The page holds no pointers. Damage to it can delay a wake-up by a peer, or
//     wake for nothing; it can't break memory, nor keep Ring by the owner's own
//     process from waking.
//
// # The word
//
// It is 0 while the owner is awake. Arm makes it generation<<3 | way, the way
// being 1 for a futex (on the word itself) or 2 for the eventfd. Whoever rings
//
//	(1) compares and swaps "armed" for "armed and ringing" (+4),
//	(2) makes the system call that wakes,
//	(3) compares and swaps "armed and ringing" for 0.
//
// A sender that finds "ringing" already there goes on with (2): the other one
// may have died or been stopped in between, so no sender passes a word other
// than 0 without its own system call. The generation keeps the late steps of a
// slow sender away from a bell armed anew.
//
// # Why no wake-up is lost
//
// The sleeper does this:
//
//	S1 word = armed (read-modify-write)   S2 barrier   S3 look for messages
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
// between its beginning and its end; one that does not run passes through such a
// barrier in the scheduler. Look at where that point B lies in the sender:
//
//   - B after P1: the message was visible to all before S2 ended. S3 sees it.
//   - B before P1, and so before P2: S1 was visible to the sender before B, so P2
//     loads what S1 stored, or something newer. Newer is either "ringing", which
//     leads to P3 like "armed" itself, or 0. A 0 comes from another ringer that
//     has finished (2), or from Disarm. Either way the sleeper is awake or
//     about to be, and it will look again after arming again: the claim then
//     holds for the next round.
//
// P3 with "armed": if the compare-and-swap fails, the word has changed, and the
// sender begins at P2 again. If it succeeds, a sleeper not yet in S4 finds a word
// that is no longer armed and does not sleep, and one in S4 is woken by (2); an
// eventfd remembers being written. Going to sleep on a futex and comparing its
// word are one step as seen from (1) and (2): the kernel promises it.
//
// Without membarrier on either side, the sender makes P2 a read-modify-write
// (Fenced). All such operations on one word have one order. If P2 comes before S1
// in it, S1 reads from P2's release sequence and S3 sees the message; if it comes
// after, P2 returns what S1 stored. The owner tells its peers through a flag in
// the page; a sender that could not register fences on its own account.
//
// On arm64 P1 is a store-release, and P2 a load-acquire; S1 and (1) to (3) are
// read-modify-writes. The claim needs no more of them than that each is atomic: what
// orders P1 before P2, and S1 before S3, is the barrier in S2, which is a full one on
// all cores.
//
// The owner's own goroutines ring through a word on the Go heap that goes the
// same way, so that their ring does not depend on what peers did to the page.
package bell
