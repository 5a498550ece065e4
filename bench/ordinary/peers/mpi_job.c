/* A Barrier, 100 Allreduce of 8 B, an Alltoall of 8 B; or only the first Alltoall, in milliseconds. */
#include "figure.h"

static int rank, size;

/* alltoall has each rank tell each other one the product of their numbers. */
static void alltoall(void)
{
	long *in = calloc(size, sizeof *in), *out = calloc(size, sizeof *out);
	for (long i = 0; i < size; i++)
		in[i] = i * rank;
	MPI_Alltoall(in, 1, MPI_LONG, out, 1, MPI_LONG, MPI_COMM_WORLD);
	for (long i = 0; i < size; i++)
		if (out[i] != in[i])
			fail("Alltoall", out[i], in[i]);
}

int main(int argc, char **argv)
{
	long count = number(argc, argv, "-count", "100"), sum;
	double start;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	start = MPI_Wtime();
	MPI_Barrier(MPI_COMM_WORLD);
	if (given(argc, argv, "-first")) {
		begin();
		start = MPI_Wtime();
		alltoall();
		MPI_Barrier(MPI_COMM_WORLD);
		print(1e3 * (MPI_Wtime() - start), rank == 0);
	} else {
		for (long i = 0; i < count; i++) {
			long mine = rank + i;
			MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
			if (sum != (long)size * (size - 1) / 2 + size * i)
				fail("Allreduce", sum, i);
		}
		alltoall();
		print(MPI_Wtime() - start, rank == 0); /* processor time from the start of the process */
	}
	MPI_Finalize();
	return 0;
}
