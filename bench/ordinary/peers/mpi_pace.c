/* Two messages in a row, then the sender computes for a while, and so on. The median of how long the second is on its way. */
#include "figure.h"
#include <time.h>

enum { tag = 1 };

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void send(long count, long long gap)
{
	long long value = 0;
	for (long i = 0; i < count; i++) {
		for (long long begin = now(); now() - begin < gap;)
			;
		MPI_Send(&value, 1, MPI_LONG_LONG, 1, tag, MPI_COMM_WORLD);
		value = now();
		MPI_Send(&value, 1, MPI_LONG_LONG, 1, tag, MPI_COMM_WORLD);
	}
}

static void receive(long count, double *ways)
{
	long long value;
	for (long i = 0; i < count; i++) {
		for (int k = 0; k < 2; k++)
			MPI_Recv(&value, 1, MPI_LONG_LONG, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		ways[i] = (now() - value) / 1e3;
	}
}

static int less(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	long count = number(argc, argv, "-count", "2000");
	long long gap = 100000;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0) {
		send(count / 10 + 1, gap);
		begin();
		send(count, gap);
		print(0, 0);
	} else {
		double *ways = malloc((count + 1) * sizeof *ways);
		receive(count / 10 + 1, ways);
		begin();
		receive(count, ways);
		qsort(ways, count, sizeof *ways, less);
		print(ways[count / 2], count);
		free(ways);
	}
	MPI_Finalize();
	return 0;
}
