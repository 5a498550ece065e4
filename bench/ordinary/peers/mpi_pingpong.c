/* A message to and fro between two ranks, with MPI_Send and MPI_Recv. */
#include "figure.h"

static void rounds(int rank, char *buf, int length, long count)
{
	for (long i = 0; i < count; i++) {
		if (rank == 0) {
			stamp(buf, length, i);
			MPI_Send(buf, length, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
			MPI_Recv(buf, length, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			check_stamp(buf, length, i + 1);
		} else {
			MPI_Recv(buf, length, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			check_stamp(buf, length, i);
			stamp(buf, length, i + 1);
			MPI_Send(buf, length, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
		}
	}
}

int main(int argc, char **argv)
{
	int rank, length = number(argc, argv, "-length", "8");
	long count = number(argc, argv, "-count", "100000");
	char *buf = calloc(1, length + 1);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	rounds(rank, buf, length, count / 10 + 1);
	begin();
	rounds(rank, buf, length, count);
	each(rank, 2 * count);
	MPI_Finalize();
	return 0;
}
