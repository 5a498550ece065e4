package mpi

// Racing tells tests whether the race detector allocates for its own purposes.
const Racing = racing
