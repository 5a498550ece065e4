/* MPI_Barrier, or MPI_Allreduce of 8 B, again and again for a while. */
#include "figure.h"

/* How many calls are made between two looks at the clock. */
enum { batch = 50 };

static long calls(int allreduce, double seconds)
{
	long n = 0, in = 1, out, more = 1;
	for (double start = MPI_Wtime(); more; n += batch) {
		for (int i = 0; i < batch; i++)
			if (allreduce)
				MPI_Allreduce(&in, &out, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
			else
				MPI_Barrier(MPI_COMM_WORLD);
		if (MPI_Wtime() - start >= seconds)
			more = 0;
		MPI_Bcast(&more, 1, MPI_LONG, 0, MPI_COMM_WORLD);
	}
	return n;
}

int main(int argc, char **argv)
{
	int rank, allreduce = strcmp(option(argc, argv, "-call", "barrier"), "allreduce") == 0;
	double seconds = 1e-3 * number(argc, argv, "-ms", "500");

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	calls(allreduce, 0);
	begin();
	each(rank, calls(allreduce, seconds));
	MPI_Finalize();
	return 0;
}
