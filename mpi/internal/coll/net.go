package coll

// Net carries the messages of one collective operation. Messages between the same two ranks arrive in order. It is an error
// if a message and its receive differ in length.
//
// An error ends the operation. The caller of the algorithm then ends the pending sends and receives, and runs the algorithm
// once more on a Net without data, to find out which messages are still to be sent and received. Which messages there are,
// their lengths and their order must therefore follow from ranks and lengths, and never from data.
type Net interface {
	// Rank is this rank's number among Size.
	Rank() int
	// Size is the number of ranks.
	Size() int
	// Connect is called before messages to or from all other ranks, so that missing connections may be made together. It
	// reports no error: messages to a rank that can't be reached fail.
	Connect()
	// Send returns when b may be written again.
	Send(b []byte, to int) error
	// Recv fills b.
	Recv(b []byte, from int) error
	// Sendrecv sends and receives at once.
	Sendrecv(send []byte, to int, recv []byte, from int) error
	// Isend starts a send. b must not be written before WaitAll has returned.
	Isend(b []byte, to int) error
	// Irecv starts a receive into b, which is complete when WaitAll has returned.
	Irecv(b []byte, from int) error
	// WaitAll waits for all operations that Isend and Irecv have started.
	WaitAll() error
	// Scratch returns n bytes, aligned to a cache line, which belong to this operation until it ends.
	Scratch(n int) []byte
}
