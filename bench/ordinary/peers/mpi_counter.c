/* All ranks count by a number in the memory of rank 0, with MPI_Fetch_and_op; with -turns a rank spins on it until it is its turn. */
#include "repeat.h"

static int rank, size;
static long added;
static MPI_Win win;

static long fetch_and(MPI_Op op, long value)
{
	long old;
	MPI_Fetch_and_op(&value, &old, MPI_LONG, 0, 0, op, win);
	MPI_Win_flush(0, win);
	return old;
}

static void add(long rounds)
{
	for (long last = -1; rounds > 0; rounds--, added++) {
		long old = fetch_and(MPI_SUM, 1);
		if (old <= last)
			fail("the number after another", old, last);
		last = old;
	}
}

static void take_turns(long rounds)
{
	for (; rounds > 0; rounds--, added++) {
		long own = added * size + rank, now;
		while ((now = fetch_and(MPI_NO_OP, 0)) != own)
			if (now > own)
				fail("the number", now, own);
		fetch_and(MPI_SUM, 1);
	}
}

int main(int argc, char **argv)
{
	double seconds = 1e-3 * number(argc, argv, "-ms", "500");
	int turns = given(argc, argv, "-turns");
	long *mem, all, now;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Win_allocate(sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	*mem = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	measure(rank, seconds, size, turns ? take_turns : add);
	MPI_Allreduce(&added, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	now = fetch_and(MPI_NO_OP, 0);
	if (now != all)
		fail("the number after all additions", now, all);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
