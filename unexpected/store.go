package unexpected

import "gomx/match"

// Overhead is the part of a message's footprint, in bytes, that doesn't depend
// on its size: its slot, its links and its share of the index.
const Overhead = 160

// Message is one message that waits for its receive. The store reads only Match and
// Peer of what the caller puts in.
type Message struct {
	Match  uint64 // match information
	ID     uint64 // the sender's request id
	Aux    uint64 // free for the caller
	Data   []byte // stored bytes, payload or description, which belong to the store
	Peer   int32  // who sent it, for RemovePeer
	Length uint32 // size of the whole message, in bytes
	Seq    uint32
	Kind   uint8
	Flags  uint8
}

// Stats are the state and the counters of a store. The counters begin at New.
type Stats struct {
	Depth     int    // messages stored now, without claimed ones
	Claimed   int    // claimed messages
	Peak      int    // most messages that were ever stored at once
	Bytes     int    // footprint of all messages stored now, with claimed ones
	PeakBytes int    // largest that Bytes has ever been
	Limit     int    // bound of what is kept beside the messages; see New
	Spare     int    // bytes of buffers kept for later messages
	Indexes   int    // masks that have an index of their own now
	Snapshots int    // masks that have a snapshot now
	Walked    uint64 // messages looked at by Find
	Finds     uint64 // calls of Find
}

// Store is a store of unexpected messages. Make one with [New]. It may
// not be used by two goroutines at once.
type Store struct {
	slab  slab
	first int32 // oldest message
	last  int32

	claims  int32 // the message that was claimed last
	claimed int   // number of claimed messages

	depth, peak      int
	bytes, peakBytes int
	limit            int

	exact     match.Index // by match information
	masked    []maskIndex // by match information under a mask
	snapshots []snapshot  // for masks without an index
	added     uint64      // messages that were ever added
	asked     uint64      // searches with a wildcard among more than a few messages
	debt      int         // messages that searches without an index have walked past since the last index was built

	finds, walked uint64
}

// New returns an empty store. limit, in bytes, bounds the spare buffers and the indexes that the store keeps
// beside the messages, as the package's promise 4 says. The footprint of a message is [Overhead] and the size of
// its buffer, which is its data rounded up. The store allocates memory as messages are added.
func New(limit int) *Store { return &Store{limit: limit} }

// At returns the stored message of that id. It is valid until Remove. The caller
// may write to its fields and to the bytes of Data, and may shorten Data, but
// must leave Match and Peer alone.
func (s *Store) At(id int32) *Message { return &s.slab.at(id).message }

// Len returns the number of messages stored, without claimed ones.
func (s *Store) Len() int { return s.depth }

// Has reports whether id is a stored message, and not claimed.
func (s *Store) Has(id int32) bool { return s.exact.Has(id) }

// First returns the oldest message; ok is false if the store is empty.
func (s *Store) First() (id int32, ok bool) { return s.first, s.first != none }

// Next returns the message that arrived after id, which must still be stored. A loop
// that removes messages has to call Next before it removes one.
func (s *Store) Next(id int32) (next int32, ok bool) {
	next = s.slab.at(id).next
	return next, next != none
}

// SetLimit changes the limit, in bytes.
func (s *Store) SetLimit(limit int) {
	s.limit = limit
	s.slab.trim(s.spareLimit())
	s.dropUnaffordable()
}

// Stats returns the state and the counters of the store.
func (s *Store) Stats() Stats {
	return Stats{
		Depth: s.depth, Claimed: s.claimed, Peak: s.peak,
		Bytes: s.bytes, PeakBytes: s.peakBytes, Limit: s.limit,
		Spare: s.slab.spare, Indexes: len(s.masked), Snapshots: len(s.snapshots),
		Walked: s.walked, Finds: s.finds,
	}
}

func (s *Store) spareLimit() int { return s.limit / 4 }
