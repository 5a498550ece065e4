/* Rank 1 sends while rank 0 computes, and receives later. Seconds, without those in which rank 0 was away. */
#include "figure.h"

int main(int argc, char **argv)
{
	int rank, length = number(argc, argv, "-length", "500");
	long count = number(argc, argv, "-count", "300000"), late = number(argc, argv, "-late", "3000");
	char *buf = calloc(1, length + 1);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	begin();
	if (rank == 1) {
		for (long i = 0; i < count; i++)
			MPI_Send(buf, length, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
		print(0, 0);
	} else {
		usleep(late * 1000);
		double start = MPI_Wtime();
		for (long i = 0; i < count; i++)
			MPI_Recv(buf, length, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		print(MPI_Wtime() - start, count);
	}
	MPI_Finalize();
	return 0;
}
