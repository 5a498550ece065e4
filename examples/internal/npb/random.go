package npb

// The generator of the benchmarks is linear and congruential: each number is the
// one before it times Multiplier, modulo 2^46.
const (
	Multiplier = 1220703125 // 5 to the 13th
	Modulus    = 1 << 46
)

// Random is the state of a generator: the number it has made last, or its seed. One
// goroutine uses it at a time.
type Random uint64

// Next returns the next number of the sequence, which lies between 0 and 1.
func (r *Random) Next() float64 {
	*r = *r * Multiplier % Modulus
	return float64(*r) / Modulus
}

// Skip makes as much progress as n calls of Next, in a time that grows with the
// logarithm of n. It is how each rank finds its part of the one sequence.
func (r *Random) Skip(n uint64) {
	for power := Random(Multiplier); n > 0; n /= 2 {
		if n%2 == 1 {
			*r = *r * power % Modulus
		}
		power = power * power % Modulus
	}
}
