package match

// MaskNone is the mask under which every bit of the match information counts
// (MX_MATCH_MASK_NONE): it masks nothing out.
const MaskNone uint64 = ^uint64(0)

// Valid reports whether value has no bits outside mask. A receive or probe for
// which it is false can match nothing and is refused (MX_BAD_MATCH_MASK).
func Valid(value, mask uint64) bool { return value&^mask == 0 }

// Matches is the matching rule of MX: it reports whether a message carrying
// incoming belongs to a receive posted with value and mask.
//
// Only the incoming side is masked. Other systems mask both sides or invert the
// mask into a set of ignored bits; their façades convert before they get here.
func Matches(incoming, value, mask uint64) bool { return incoming&mask == value }
