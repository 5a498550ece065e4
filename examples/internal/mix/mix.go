// Package mix makes numbers that look random out of numbers: data that are the same
// whichever rank makes them, and sums by which results are compared.
package mix

// Bits returns 64 bits that depend on all bits of x.
func Bits(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Unit returns a number from 0 up to, but not including, 1.
func Unit(x uint64) float64 { return float64(Bits(x)>>11) / (1 << 53) }

// At returns what the value at a place adds to a checksum. A checksum is the sum of that over
// all places: in whatever order, and by whichever ranks, it comes out the same.
func At(place int, value uint64) uint64 { return Bits(Bits(uint64(place)) ^ value) }
