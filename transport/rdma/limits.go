package rdma

// Defaults and bounds of the options.
const (
	// DefaultCredits is how many credits a peer gets: how many frames it may send that were not received yet.
	DefaultCredits = 32
	// LeastCredits leaves one for a frame while another gives credits back.
	LeastCredits = 4
	// MostCredits bounds what one peer can hold of an endpoint's slots.
	MostCredits = 4096

	// DefaultSlots is how many frames an endpoint has room for to begin with.
	DefaultSlots = 512
	// LeastSlots serves the fewest peers with the fewest credits.
	LeastSlots = 16
	// MostSlots bounds the memory that an endpoint locks before it has any peer.
	MostSlots = 1 << 16

	// SlotSize is the room of one frame, header and payload, bytes.
	SlotSize = 8 << 10
)
