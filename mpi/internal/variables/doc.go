// Package variables reads environment variables into settings, and lists them. A Binding ties the name of
// a variable to its place; mpi and mpi/launch have a table of them each.
package variables
