// Package elem sees slices as the bytes that they consist of, and bytes as slices.
//
// Rules that it relies on:
//
//   - Only types without pointers are seen as bytes. The check of a type is made
//     once, by reflection; from then on it is one look into a table.
//   - A slice that is returned shares the memory of the one that was given, and so
//     keeps it alive. Its length is never larger, in bytes.
//   - Bytes are seen as elements only if they are aligned as the elements are.
//
// It is the one place of package mpi and of what lies in it that uses unsafe.
package elem
