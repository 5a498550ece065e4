package main

import (
	"gomx/examples/internal/npb"
)

const (
	seed  = 314159265
	tests = 5 // keys whose ranks are looked at in each iteration
)

// problem is a class: 2^keysLog keys below 2^maxLog, and for a few of them what their
// ranks must be.
type problem struct {
	keysLog, maxLog int
	tests           [tests]test
}

// test is a key, by its place, and its rank before the first iteration. With each
// iteration the rank changes by step, from iteration lag on.
type test struct{ place, rank, step, lag int }

// rankAt is the published rank at an iteration.
func (t test) rankAt(iteration int) int { return t.rank + t.step*(iteration-t.lag) }

var problems = map[npb.Class]problem{
	"S": {16, 11, [tests]test{
		{48427, 0, 1, 0}, {17148, 18, 1, 0}, {23627, 346, 1, 0}, {62548, 64917, -1, 0}, {4431, 65463, -1, 0}}},
	"W": {20, 16, [tests]test{
		{357773, 1249, 1, 2}, {934767, 11698, 1, 2}, {875723, 1039987, -1, 0}, {898999, 1043896, -1, 0}, {404505, 1048018, -1, 0}}},
	"A": {23, 19, [tests]test{
		{2112377, 104, 1, 1}, {662041, 17523, 1, 1}, {5336171, 123928, 1, 1}, {3642833, 8288932, -1, 1}, {4250760, 8388264, -1, 1}}},
	"B": {25, 21, [tests]test{
		{41869, 33422937, -1, 0}, {812306, 10244, 1, 0}, {5102857, 59149, 1, 0}, {18232239, 33135281, -1, 0}, {26860214, 99, 1, 0}}},
	"C": {27, 23, [tests]test{
		{44172927, 61147, 1, 0}, {72999161, 882988, 1, 0}, {74326391, 266290, 1, 0}, {129606274, 133997595, -1, 0}, {21736814, 133525895, -1, 0}}},
}

func (p problem) keys() int   { return 1 << p.keysLog }
func (p problem) maxKey() int { return 1 << p.maxLog }

// makeKeys makes the keys of the places from begin to end. A key is the sum of four
// random numbers, so that most are of middle size.
func (p problem) makeKeys(begin, end int) []uint32 {
	r := npb.Random(seed)
	r.Skip(4 * uint64(begin))
	keys := make([]uint32, end-begin)
	quarter := float64(p.maxKey() / 4)
	for i := range keys {
		sum := r.Next()
		sum += r.Next()
		sum += r.Next()
		sum += r.Next()
		keys[i] = uint32(quarter * sum)
	}
	return keys
}
