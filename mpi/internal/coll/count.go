package coll

// Choices is how many pairs of a kind and an algorithm there are: Choice is below it.
const Choices = int(kinds) * int(algorithms)

// Choice numbers the pair of a kind and an algorithm.
func Choice(k Kind, a Algorithm) int { return int(k)*int(algorithms) + int(a) }

// Chosen returns the pair of a number.
func Chosen(choice int) (Kind, Algorithm) {
	return Kind(choice / int(algorithms)), Algorithm(choice % int(algorithms))
}
