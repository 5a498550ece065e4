package wire

// Caps says what a medium can do. It is all that the engine knows of one.
type Caps struct {
	Name     string // "shm", "tcp", ...
	MaxFrame int    // largest payload of one frame, bytes, but see MaxPullFrame
	Eager    int    // messages up to this many bytes go eagerly unless told otherwise
	Ordered  bool   // frames arrive in the order sent
	Reliable bool   // every frame arrives once, or the link goes down
	Pull     bool   // Export and Pull work; otherwise the engine uses the pipelined rendezvous

	// Heals: a link that goes down may come back as another one, and what the
	// peer has not received is retransmitted over that. Sessions outlive such links.
	Heals bool

	// PullFrame is the payload of a PullData frame that suits the medium, bytes.
	// 0: the engine's own choice.
	PullFrame int

	// MaxPullFrame is the largest payload of a PullData frame, bytes, if that is more than
	// MaxFrame. 0: it is MaxFrame.
	MaxPullFrame int

	// Retains: Send may keep the memory of a PullData frame until the frame has
	// left. See Link.Reclaim.
	Retains bool
}

// LargestPullFrame returns the largest payload of a PullData frame, bytes.
func (c *Caps) LargestPullFrame() int { return max(c.MaxFrame, c.MaxPullFrame) }

// PullResult is the answer of Link.Pull.
type PullResult uint8

// The answers of Link.Pull.
const (
	PullDone     PullResult = iota // the bytes are in place
	PullStarted                    // under way; PullFinished reports the end
	PullFailed                     // not possible this way; use the pipelined rendezvous instead
	PullDeclined                   // possible, but the pipelined rendezvous is quicker
)

// Link is what the engine asks of a connection to one peer. The engine calls it
// with the endpoint's lock held, never from two goroutines at once.
type Link interface {
	// Caps returns the link's capabilities; they never change.
	Caps() *Caps

	// Send hands h and the h.Length bytes of v that begin at off to the medium.
	// False means "again": nothing was taken, and the engine keeps the frame and
	// its order. When there is room afterwards, whoever sleeps on this endpoint's
	// doorbell is woken, as by a frame. After true, header and payload have been copied, but for the
	// payload of PullData over a link that Retains. With an h.Length of 0, v may
	// be nil.
	Send(h *Header, v *Vec, off int) bool

	// Reclaim makes a link that Retains copy what it still needs of the memory
	// that Send was given. From its return on that memory is the user's again.
	Reclaim()

	// Export appends to dst a memory descriptor of v, with which the peer can pull v,
	// and returns a token for Unexport. It is only called if Caps().Pull.
	// The memory is the user's again after Unexport, so a pull that has not read all
	// bytes by then must fail, and must not read on: the peer must never get bytes that
	// were written there afterwards. A memory descriptor is valid on this link only. The
	// end of the link ends all exports.
	Export(dst []byte, v *Vec) (desc []byte, token uint64)

	// Unexport ends the export with that token. read says that the peer is known to read
	// nothing any more; otherwise Unexport waits until that is so, where the link can see
	// it, but not for long: a peer that was stopped while it reads discards that later.
	Unexport(token uint64, read bool)

	// Pull fetches the first n bytes of the memory of a peer's memory descriptor into v.
	// If the answer is PullStarted, exactly one PullFinished brings the id back,
	// unless the link goes down or is closed before. If that takes a Poll, whoever
	// sleeps on the endpoint's doorbell is woken.
	Pull(desc []byte, v *Vec, n int, id uint64) PullResult
}

// PullStopper is a Link that can end a pull which is under way.
type PullStopper interface {
	// StopPull ends the pull with that id, which writes nothing more, and no PullFinished comes. It reports whether
	// there was one under way.
	StopPull(id uint64) bool
}
