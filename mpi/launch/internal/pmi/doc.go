// Package pmi speaks PMI-1.1, the process management interface by which a launcher tells ranks who
// they are, and over which they exchange short texts before they know each other. Hydra (mpiexec of
// MPICH), Slurm (srun --mpi=pmi2), Flux and mx_run are its servers; Client and Server are the two
// sides of it.
//
// A command is one line: cmd=name, then key=value, separated by blanks, answered by one line. What
// servers of today want is narrower than the text of the standard, and is kept here:
//
//   - One command is one write, of at most 1023 bytes: Slurm reads each with one read.
//   - The next command waits for the answer of the one before.
//   - init asks for version 1.1, not 1.2: Slurm refuses that.
//   - What is put can be got after the next barrier, not before.
//   - Values are printable, without blanks and without '='.
//
// Read line.go first, then client.go and server.go.
package pmi
