/* All ranks do the same again and again for a while, as internal/repeat has it for programs in Go. */
#include "figure.h"

/* How many rounds there are at most between two looks at the clock. */
enum { most = 50 };

static long batch = 1;

static long during(int rank, double seconds, void (*work)(long rounds))
{
	long rounds = 0, enough = 0, all = 0;
	for (double start = MPI_Wtime(); !all;) {
		work(batch);
		rounds += batch;
		batch = 2 * batch < most ? 2 * batch : most;
		if (rank == 0 && MPI_Wtime() - start >= seconds)
			enough = 1;
		MPI_Allreduce(&enough, &all, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
	}
	return rounds;
}

/* measure prints microseconds for each operation, of which a round has so many. */
static void measure(int rank, double seconds, long ops, void (*work)(long rounds))
{
	during(rank, seconds / 10, work);
	begin();
	each(rank, ops * during(rank, seconds, work));
}
