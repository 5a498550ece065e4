// Package npb holds what the NAS kernels of the examples share: the random numbers
// that the NAS Parallel Benchmarks prescribe, the problem classes, and the lines that
// a run prints in the end. The kernels themselves are in nas_ep, nas_is and nas_cg,
// written anew from the description of the benchmarks (Bailey and others, "The NAS
// Parallel Benchmarks", NASA RNR-94-007).
package npb
