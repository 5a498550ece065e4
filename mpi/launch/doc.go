// Package launch tells a process its rank and the number of ranks, and lets the ranks of a job exchange business cards
// before they know each other's addresses. A business card is a short text of a rank, such as the address of its endpoint.
//
// Find looks for a launcher in the environment, and takes the first of these:
//
//	MX_SINGLETON=1                           one rank, whatever else is said
//	PMI_FD or PMI_PORT                       PMI-1.1: mpiexec of MPICH (Hydra), srun --mpi=pmi2, Flux, mx_run
//	MX_RANK, MX_SIZE, MX_ROOT                ranks that were started by hand or by a script
//	Slurm's SLURM_PROCID and so on           srun without PMI
//	JOB_COMPLETION_INDEX, MX_SIZE, MX_ROOT   indexed jobs of Kubernetes
//	RANK, WORLD_SIZE, MASTER_ADDR            torchrun and what behaves like it
//	nothing                                  one rank
//
// Without PMI rank 0 listens at an address that all ranks know, and the other ranks connect to it (meet.go). If the
// environment says that there are several ranks, but not how to reach them, Find fails, and rank 0's error says what to
// type: a job never falls apart into single ranks silently.
//
// With PMI the ranks of a host put a single key for all of them (businesscards.go, locals.go). internal/pmi has the
// protocol. Package mpi uses this package; programs do not need it.
package launch
