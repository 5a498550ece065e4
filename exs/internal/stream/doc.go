// Package stream decides how the bytes of a stream travel as messages: straight
// into memory that a receive waits with, while the receiver is ahead, and through
// an intermediate buffer, while the sender is. It is the algorithm of MacArthur and
// Russell, "An Efficient Method for Stream Semantics over RDMA" (IPDPS 2014), for a
// transport of matched messages.
//
// A [Sender] and a [Receiver] are the two ends of one direction. They move numbers;
// their caller moves bytes. A call says what happened, [Sender.Next] and
// [Receiver.Next] say what to do about it.
//
// # What the transport gives
//
//  1. All messages of one end, data of both kinds and control messages, arrive in
//     the order they were sent, exactly once. To arrive is to be matched, or to be
//     announced: the bytes may come later, and in any order.
//  2. A receive that is posted for a number is matched by the direct message of that
//     number, and by nothing else. It can be withdrawn until then.
//
// # What the stream promises
//
//  1. Every byte is received once, in order, whatever crosses on the way.
//  2. Every operation finishes once. Operations finish in the order they were begun,
//     but for those that are cancelled, reset or shut down.
//  3. If both users wait and nothing is on its way, then the sends have gone, or the
//     buffer has grown to BufferMax, has less than half of it free, and nobody receives.
//  4. The buffer holds BufferMax bytes at most. While bytes are on their way to memory
//     of cancelled receives it may be larger by what these had advertised, which MaxAdvertised
//     bounds.
//  5. A peer that does not keep to the protocol is found out before a bound is
//     exceeded.
//  6. In steady state no call allocates.
//
// # Phases
//
// The trouble is the crossing of an advert with bytes that were sent before it
// arrived. These come first in the stream, but the advert is for memory that would
// then be filled with what comes after them. Adverts therefore belong to epochs, the
// paper's direct phases, and carry consecutive numbers. Indirect messages carry the
// number behind the last advert that was used.
//
// The sender, with epoch e the newest it has heard of:
//
//	state          what happens                            what it does                     next
//	indirect       something to send, window open          indirect message                 indirect
//	indirect       advert of e                             discards it                      indirect
//	indirect       advert of e+1, its position is ours     keeps it                         direct
//	indirect       advert of e+1, its position is behind   discards it                      indirect
//	direct         something to send, advert kept          direct message into the oldest   direct
//	direct         the message leaves a whole advert short discards the others              indirect
//	direct         something to send, no advert            indirect message                 indirect
//	direct         advert of e                             keeps it                         direct
//
// The receiver, in epoch e:
//
//	state          what happens                            what it does                     next
//	closed         buffer empty, nothing landing,          posts it, sends the advert with  open e+1
//	               a receive waits                         the position it has reached
//	open           buffer empty, a receive waits           posts it, sends the advert       open
//	open, closed   indirect message behind number k        gives up all adverts from k on,  closed
//	                                                       keeps the bytes behind those
//	                                                       that are still landing
//	open           a direct message leaves a whole advert  gives up the adverts behind it   closed
//	               short
//
// Both sides give up the same adverts: the sender those that it has when it sends the
// indirect message, or hears later of this epoch; the receiver those that it has
// sent until that message arrives, but for the ones before number k. What was given
// up is withdrawn from the transport, which succeeds, since nothing is sent for it.
// A new epoch begins when all that the receiver knows of is consumed, and counts if
// that is all that was sent. Then nothing is on the way that belongs before it.
//
// A receive with WaitAll is advertised as whole, in pieces if it is long. A message
// that does not fill a whole advert ends the epoch at both ends, because the bytes
// that follow belong behind it in the same memory; the sender waits for the advert of
// the rest. Small pieces for a whole advert go through the buffer.
//
// # Who is ahead
//
// The receiver advertises only while the buffer is empty, never the memory behind a
// peek, and not while only small messages come: these cost less when they are copied
// from the message in hand to the receive that waits, without an advert and without
// the buffer. Nor does it while the sender stays ahead: an epoch of which nothing was
// used makes the next one wait, for more and more messages, and begin with one advert
// alone, until one is used or the sender asks. The sender, when it has no advert, runs
// ahead. With HoldMin it asks first, if the receiver was seen waiting: the answer is an
// advert as soon as what was sent is consumed, or that no receive waits.
//
// # The window
//
// The receiver says how many indirect bytes there may have been in all, in adverts and
// answers, and in acks whenever half of the buffer has become free, or less where a look
// waits for more than the window lets come. The sum only grows.
// A sender that has more to send says that it is used up, once for each size that the
// buffer may have. The buffer is then doubled, up to BufferMax, and the sender hears of that
// at once: two users who both send before they receive would wait for each other, and a
// small buffer makes both sides wait for acks. Its memory is made when bytes must lie there
// for the first time.
//
// # Cancelling
//
// A receive that is not advertised ends at once. Otherwise the posted receives are
// withdrawn, the last first, down to the cancelled one. The first that has matched
// ends this: it and those before it are used, and their bytes are landing. The
// cancelled one then finishes without a word from the peer; the memory behind it,
// though withdrawn, goes on waiting. The sender gets a request to give up the adverts, and
// no others are sent before it has answered. Direct messages that it had sent before
// arrive unexpected, in order, and are treated as if they had been indirect, except
// that the window knows nothing of them.
//
// # The end of the peer
//
// A peer that vanishes leaves three kinds of bytes: those in the buffer, those that are landing or being fetched, of which
// some may not come any more, and those that never left it. The receives that are posted for the last are withdrawn. The
// stream goes on up to the first byte that is missing: a message that is not fetched ends it there ([Receiver.Unfetched]),
// one that does not land, which is before all that lies in the buffer, ends it at once ([Receiver.Reset]).
//
// Nothing in this package does input or output, reads a clock or starts a goroutine.
// No type may be used by two goroutines at once.
package stream
