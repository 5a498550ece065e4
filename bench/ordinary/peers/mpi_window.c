/* Rank 0 sends many messages at a time, which rank 1 answers with one. */
#include "figure.h"

static void rounds(int rank, char *buf, int length, MPI_Request *reqs, int window, long count)
{
	char answer = 0;
	for (long n = 0; n < count; n++) {
		for (int i = 0; i < window; i++)
			if (rank == 0) {
				stamp(buf + (long)i * length, length, n + i);
				MPI_Isend(buf + (long)i * length, length, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &reqs[i]);
			} else
				MPI_Irecv(buf + (long)i * length, length, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &reqs[i]);
		MPI_Waitall(window, reqs, MPI_STATUSES_IGNORE);
		if (rank == 0) {
			MPI_Recv(&answer, 1, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			continue;
		}
		for (int i = 0; i < window; i++)
			check_stamp(buf + (long)i * length, length, n + i);
		MPI_Send(&answer, 1, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	int rank, length = number(argc, argv, "-length", "8"), window = number(argc, argv, "-window", "64");
	long count = number(argc, argv, "-count", "10000");
	char *buf = calloc(window, length + 1);
	MPI_Request *reqs = calloc(window, sizeof *reqs);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	rounds(rank, buf, length, reqs, window, count / 10 + 1);
	begin();
	rounds(rank, buf, length, reqs, window, count);
	each(rank, count * window);
	MPI_Finalize();
	return 0;
}
