package main

import "strconv"

// profileOf returns the file for the profile of a rank; "" is none. The profile from which the compiler
// optimizes this program, default.pgo, is made of those of two ranks on a core each, and of what
// cmd/mx_pingpong has of the library below:
//
//	go build -trimpath -pgo=off ./bench/collective
//	mx_run -n 2 ./collective -pin 0,1 -batch 100 -calls pingpong:8,barrier:0,allreduce:8 -cpuprofile rank.
//	go tool pprof -proto rank.0 rank.1 cmd/mx_pingpong/default.pgo > bench/collective/default.pgo
func (o *options) profileOf(rank int) string {
	if o.profile == "" {
		return ""
	}
	return o.profile + strconv.Itoa(rank)
}
