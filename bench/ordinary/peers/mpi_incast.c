/* All other ranks send to rank 0 at once, many messages at a time. */
#include "figure.h"

enum { length = 8 };

static int rank;

static void rounds(char *bufs, MPI_Request *reqs, MPI_Status *status, int window, long windows)
{
	MPI_Barrier(MPI_COMM_WORLD);
	for (; windows > 0; windows--) {
		for (int i = 0; i < window; i++)
			if (rank > 0) {
				stamp(bufs + i * length, length, rank);
				MPI_Isend(bufs + i * length, length, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &reqs[i]);
			} else
				MPI_Irecv(bufs + i * length, length, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &reqs[i]);
		MPI_Waitall(window, reqs, status);
		for (int i = 0; i < window && rank == 0; i++)
			check_stamp(bufs + i * length, length, status[i].MPI_SOURCE);
	}
}

int main(int argc, char **argv)
{
	int size, window = number(argc, argv, "-window", "64");
	long count = number(argc, argv, "-count", "500000"), windows, all;
	char *bufs = calloc(window, length);
	MPI_Request *reqs = calloc(window, sizeof *reqs);
	MPI_Status *status = calloc(window, sizeof *status);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	windows = count / ((size - 1) * window);
	windows = windows > 1 ? windows : 1;
	all = rank == 0 ? size - 1 : 1; /* the receiver has a window for each that is sent */
	rounds(bufs, reqs, status, window, (windows / 10 + 1) * all);
	begin();
	rounds(bufs, reqs, status, window, windows * all);
	each(rank, windows * window * (size - 1));
	MPI_Finalize();
	return 0;
}
