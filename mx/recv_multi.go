package mx

import "fmt"

// IrecvMulti posts a receive for many messages into one buffer (a multi-receive of OFI). It stands among the receives of the endpoint
// where it was posted, and takes each message whose match information, masked with matchMask, is matchRecv, until fewer
// than least bytes of the buffer are left; least 0 is 1: until it is full. Each message comes as a Completion of the queue: its Request is the multi-receive, its Message
// the bytes, at a multiple of 8 bytes in the buffer, and its Status that of a receive, with the context given here. An empty message takes
// a byte, too, so that a buffer of n bytes has (n+7)/8 messages at most. They come in the order in which
// they are complete, which among messages of different protocols need not be that of their matching. A
// message that is longer than what is left is cut, with StatusTruncated: none is, if least is the longest that
// is expected. In the end, when all messages in it have come, the multi-receive itself completes into the queue, without a Message, and its
// Status.XferLength is how much of the buffer was used; then the buffer is the caller's again. What has
// been announced may be read before.
//
// Cancel takes the multi-receive back if there is no message in it that arrives, or that was not collected; otherwise it takes no more, and completes.
// When the queue is closed it takes no more, either: messages in it that nobody has collected, or that still arrive, are dropped with the queue, and
// the multi-receive completes as an ordinary request of the endpoint. Add of another queue has it complete there, together with the messages
// that match from then on. Test and Wait collect its end alone, which need not be the last that the queue has of it: messages may still be
// there to collect, and lie in the buffer. After Forget it goes on and its messages are announced, but its end is not, so that nothing
// tells when the buffer may be used again. MX does not have it. Errors: ErrBadParamVal if the
// queue is nil or not over the endpoint, ErrBadSegMem for a buffer that is empty, of 4 GiB or more, or smaller than least,
// ErrBadMatchMask, ErrBadMatchingForCtxID, ErrBadEndpoint if the queue or the endpoint is closed. Safe from any goroutine.
func (ep *Endpoint) IrecvMulti(q *Queue, buf []byte, least int, matchRecv, matchMask uint64, context any) (Request, error) {
	switch {
	case q == nil:
		return Request{}, ep.fail("irecv multi", "", fmt.Errorf("%w: the queue is nil", ErrBadParamVal))
	case len(buf) == 0:
		return Request{}, ep.fail("irecv multi", "", fmt.Errorf("%w: the buffer is empty", ErrBadSegMem))
	case least < 0 || least > len(buf) || uint64(len(buf)) > MaxMessage:
		return Request{}, ep.fail("irecv multi", "", fmt.Errorf("%w: at least %d bytes of a buffer of %d", ErrBadSegMem, least, len(buf)))
	}
	h, err := q.q.RecvMulti(ep.d, buf, uint32(least), matchRecv, matchMask, context)
	if err != nil {
		e := queueError("irecv multi", err)
		e.Endpoint = ep.String()
		return Request{}, handle(ep.onError, e)
	}
	return Request{ep, h}, nil
}
