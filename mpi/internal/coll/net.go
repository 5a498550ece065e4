package coll

// Net carries the messages of one collective operation. Those between the same two
// ranks arrive in order. A message of another length than its receive is an error.
//
// After an error the operation is over: the caller of the algorithm ends what is under way, and finds out what was left to do by going
// through the algorithm once more, on a Net without data. So which messages there are, their lengths and their order follow from the
// ranks and lengths that the algorithm is given, and never from the data.
type Net interface {
	// Rank is this rank's number among Size.
	Rank() int
	// Size is the number of ranks.
	Size() int
	// Connect is called before messages to or from all others, so that the connections that are missing may be made together. What can't be
	// reached fails the messages.
	Connect()
	// Send returns when b may be written again.
	Send(b []byte, to int) error
	// Recv fills b.
	Recv(b []byte, from int) error
	// Sendrecv sends and receives at once.
	Sendrecv(send []byte, to int, recv []byte, from int) error
	// Isend begins to send. b must stay as it is until WaitAll.
	Isend(b []byte, to int) error
	// Irecv begins to fill b, which is complete after WaitAll.
	Irecv(b []byte, from int) error
	// WaitAll waits for all that Isend and Irecv have begun.
	WaitAll() error
	// Scratch returns n bytes, aligned to a cache line, that are this operation's until it ends.
	Scratch(n int) []byte
}
