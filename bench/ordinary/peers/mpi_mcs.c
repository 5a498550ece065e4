/* A lock made of one-sided operations, that of Mellor-Crummey and Scott, and under it a number that all ranks count by. */
#include "repeat.h"

/* The words of each rank's part of the window. Ranks are written with one added, so that 0 is nobody.
 * They have 32 bits, because Open MPI 4.1 crashes in MPI_Compare_and_swap of 64 between the processes of a host. */
enum { next, waiting, tail, guarded, words };

static int rank;
static int turns;
static MPI_Win win;

static long fetch_and(MPI_Op op, int value, int target, int word)
{
	int old;
	MPI_Fetch_and_op(&value, &old, MPI_INT, target, word, op, win);
	MPI_Win_flush(target, win);
	return old;
}

static void set(int target, int word, int value)
{
	MPI_Accumulate(&value, 1, MPI_INT, target, word, 1, MPI_INT, MPI_REPLACE, win);
	MPI_Win_flush(target, win);
}

static long spin(int word, long before)
{
	long now;
	while ((now = fetch_and(MPI_NO_OP, 0, rank, word)) == before)
		;
	return now;
}

static void acquire(void)
{
	set(rank, next, 0);
	set(rank, waiting, 1);
	long before = fetch_and(MPI_REPLACE, rank + 1, 0, tail);
	if (before == 0)
		return;
	set(before - 1, next, rank + 1);
	spin(waiting, 1);
}

static void release(void)
{
	long behind = fetch_and(MPI_NO_OP, 0, rank, next);
	if (behind == 0) {
		int own = rank + 1, nobody = 0, last;
		MPI_Compare_and_swap(&nobody, &own, &last, MPI_INT, 0, tail, win);
		MPI_Win_flush(0, win);
		if (last == own)
			return;
		behind = spin(next, 0);
	}
	set(behind - 1, waiting, 0);
}

static long get(void)
{
	int value;
	MPI_Get(&value, 1, MPI_INT, 0, guarded, 1, MPI_INT, win);
	MPI_Win_flush(0, win);
	return value;
}

static void work(long rounds)
{
	for (; rounds > 0; rounds--, turns++) {
		acquire();
		int value = get() + 1;
		MPI_Put(&value, 1, MPI_INT, 0, guarded, 1, MPI_INT, win);
		MPI_Win_flush(0, win);
		release();
	}
}

int main(int argc, char **argv)
{
	double seconds = 1e-3 * number(argc, argv, "-ms", "500");
	int size;
	int *mem, all, now;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Win_allocate(words * sizeof *mem, sizeof *mem, MPI_INFO_NULL, MPI_COMM_WORLD, &mem, &win);
	memset(mem, 0, words * sizeof *mem);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_lock_all(0, win);
	measure(rank, seconds, size, work);
	MPI_Allreduce(&turns, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	now = get();
	if (now != all)
		fail("the number after all turns", now, all);
	MPI_Win_unlock_all(win);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
