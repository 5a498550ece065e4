/* Numbers go down the ranks one at a time, each of which adds one. The time for each number. */
#include "repeat.h"

enum { numbers = 100, tag = 1 };

static int rank, size;

static void work(long rounds)
{
	long value;
	for (long i = 0; i < rounds * numbers; i++) {
		if (rank == 0) {
			value = i;
		} else {
			MPI_Recv(&value, 1, MPI_LONG, rank - 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			value++;
		}
		if (value != i + rank)
			fail("a number", value, i + rank);
		if (rank + 1 < size)
			MPI_Send(&value, 1, MPI_LONG, rank + 1, tag, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	double seconds = 1e-3 * number(argc, argv, "-ms", "500");

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	measure(rank, seconds, numbers, work);
	MPI_Finalize();
	return 0;
}
