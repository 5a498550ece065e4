// Package mpis knows the MPIs that gomx is measured beside: how each is found, how it compiles a
// program, and how its launcher starts ranks, bound to cores or more than there are cores.
package mpis
