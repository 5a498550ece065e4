package mx

import "fmt"

// IrecvMulti posts a receive for many messages into one buffer (a multi-receive of OFI). It stands among the receives of the endpoint
// where it was posted, and takes each message whose match information, masked with matchMask, is matchRecv, until fewer
// than least bytes of the buffer are left. Each message comes as a Completion of the queue: its Request is the multi-receive, its Message
// the bytes, at a multiple of 8 bytes in the buffer, and its Status that of a receive, with the context given here. They come in the order in which
// they are complete, which among messages of different protocols need not be that of their matching. A
// message that is longer than what is left is cut, with StatusTruncated: none is, if least is the longest that
// is expected. In the end, when all messages in it have come, the multi-receive itself completes into the queue, without a Message, and its
// Status.XferLength is how much of the buffer was used; then the buffer is the caller's again. What has
// been announced may be read before.
//
// Cancel takes the multi-receive back if there is no message in it that arrives, or that was not collected; otherwise it takes no more, and completes. It
// does so, too, when the queue is closed; what arrives in it then is not announced. MX does not have it. Errors: ErrBadParamVal if the
// queue is nil or not over the endpoint, ErrBadSegMem for a buffer that is empty, of 4 GiB or more, or smaller than least,
// ErrBadMatchMask, ErrBadMatchingForCtxID, ErrBadEndpoint if the queue or the endpoint is closed. Safe from any goroutine.
func (ep *Endpoint) IrecvMulti(q *Queue, buf []byte, least int, matchRecv, matchMask uint64, context any) (Request, error) {
	switch {
	case q == nil:
		return Request{}, ep.fail("irecv multi", "", fmt.Errorf("%w: the queue is nil", ErrBadParamVal))
	case least < 0 || least > len(buf) || uint64(len(buf)) > MaxMessage:
		return Request{}, ep.fail("irecv multi", "", fmt.Errorf("%w: at least %d bytes of a buffer of %d", ErrBadSegMem, least, len(buf)))
	}
	h, err := q.q.RecvMulti(ep.d, buf, uint32(least), matchRecv, matchMask, context)
	if err != nil {
		return Request{}, failQueue("irecv multi", err)
	}
	return Request{ep, h}, nil
}
