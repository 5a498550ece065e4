/* MPI_Iallreduce of 8 B, polled by MPI_Test, or with -wait waited for. */
#include "repeat.h"

static int rank, size, waits;

static void work(long rounds)
{
	for (long i = 0; i < rounds; i++) {
		long in = i + rank, out = 0, want = size * i + size * (size - 1) / 2;
		int done = 0;
		MPI_Request req;
		MPI_Iallreduce(&in, &out, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &req);
		if (waits)
			MPI_Wait(&req, MPI_STATUS_IGNORE);
		else
			while (!done)
				MPI_Test(&req, &done, MPI_STATUS_IGNORE);
		if (out != want)
			fail("a sum", out, want);
	}
}

int main(int argc, char **argv)
{
	double seconds = 1e-3 * number(argc, argv, "-ms", "500");

	waits = given(argc, argv, "-wait");
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	measure(rank, seconds, 1, work);
	MPI_Finalize();
	return 0;
}
