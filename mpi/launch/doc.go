// Package launch tells a process which rank it is among how many, and lets the ranks of a job hand
// each other a card before they know each other's addresses.
//
// Find looks at what the launcher has left in the environment, and takes the first of these that is
// there:
//
//	MX_SINGLETON=1                           one rank, whatever else is said
//	PMI_FD or PMI_PORT                       PMI-1.1: mpiexec of MPICH (Hydra), srun --mpi=pmi2, Flux, mx_run
//	MX_RANK, MX_SIZE, MX_ROOT                ranks that were started by hand or by a script
//	Slurm's SLURM_PROCID and so on           srun without PMI
//	JOB_COMPLETION_INDEX, MX_SIZE, MX_ROOT   indexed jobs of Kubernetes
//	RANK, WORLD_SIZE, MASTER_ADDR            torchrun and what behaves like it
//	nothing                                  one rank
//
// Without PMI rank 0 listens at a place that all know, and the others come to it (meet.go). Where
// the environment says that there are several ranks and nothing leads to the others, Find fails and
// rank 0's error says what to type: a job never falls apart into single ranks in silence.
//
// With PMI the ranks of a host put one key together (cards.go, locals.go). internal/pmi has the
// protocol. Package mpi is the user of this package; programs have no need of it.
package launch
