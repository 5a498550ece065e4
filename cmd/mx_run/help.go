package main

const helpText = `mx_run starts a parallel program on this host: several processes, which know each
other as ranks 0, 1, 2 and so on.

  mx_run -n 4 ./program -its -flags      four ranks of a program
  mx_run -n 4 ./examples/mpi_ring        of a Go package, which it builds first
  mx_run -l -n 4 ./program               each line of output with its rank

  -n N           number of ranks (default: one for each core)
  -np N          the same
  -l             put the rank before each line of output; one of more than 64 KiB is written in parts
  -bind          bind each rank to a core, rank 0 to the first and so on. Don't, if
                 there are more ranks than cores
  -transport t   transports that the ranks use, as in MX_TRANSPORT: shm, tcp ...
  -h             this text
  -version       the version, and what built this program
  -completion shell
                 the completion for bash, zsh or fish

Rank 0 reads the standard input, from a terminal while mx_run is in its foreground;
the others read nothing. Signals are passed on; a second one of those that ask for
the end (^C, SIGTERM, SIGHUP), at least a quarter of a second later, kills. When a rank
fails, dies or aborts the job, the others are ended, and mx_run says which one it was;
what a rank leaves running in its process group is ended a second after it. Ranks
authenticate each other with a secret that rank 0 makes and mx_run hands out, in no
environment, unless MX_SECRET or MX_SECRET_FILE names one.

Programs for MPICH run as well: the ranks learn who they are by PMI-1.1.

For several hosts use a launcher that starts processes there. The same program
works unchanged:

  mpiexec.hydra -f HOSTFILE -n 16 ./program      of MPICH
  srun --mpi=pmi2 -n 16 ./program                of Slurm

Exit status: 0 all ranks did well; that of the first rank that failed; 128 and the
number of the signal that killed it; 1 for anything else.
`
