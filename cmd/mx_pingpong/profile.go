package main

import "gomx/bench/profile"

// profiled runs f and writes a CPU profile of it, if a file is named. The
// profile from which the compiler optimizes this program, default.pgo, is made of
// one of the library and of both sides of a stream of messages, with and without
// -single. There is little polling in these, which would outweigh what matters:
//
//	go test -trimpath -pgo=off ./mx -run '^$' -bench Window -cpuprofile library.prof
//	go build -trimpath -pgo=off ./cmd/mx_pingpong
//	./mx_pingpong -s -single -cpuprofile received.prof
//	./mx_pingpong -d localhost -single -S 8 -E 9 -window 64 -N 300000 -cpuprofile sent.prof
//	...
//	go tool pprof -proto *.prof > default.pgo
func profiled(file string, f func() error) error {
	return profile.Write(file, f)
}
