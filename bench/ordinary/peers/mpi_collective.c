/* A collective operation, again and again for a while. Blocks have as many bytes as -length says. */
#include "repeat.h"

enum { root = 0 };

static int rank, size;
static long n; /* in a block */
static long *in, *out;
static const char *name;

static int is(const char *operation) { return strcmp(name, operation) == 0; }

/* at is number i of the block that one rank has for another. */
static long at(long from, long to, long i) { return (from << 40) + (to << 32) + i; }

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }
static void bcast(void) { MPI_Bcast(rank == root ? in : out, n, MPI_LONG, root, MPI_COMM_WORLD); }
static void reduce(void) { MPI_Reduce(in, out, n, MPI_LONG, MPI_SUM, root, MPI_COMM_WORLD); }
static void allreduce(void) { MPI_Allreduce(in, out, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); }
static void alltoall(void) { MPI_Alltoall(in, n, MPI_LONG, out, n, MPI_LONG, MPI_COMM_WORLD); }
static void allgather(void) { MPI_Allgather(in, n, MPI_LONG, out, n, MPI_LONG, MPI_COMM_WORLD); }
static void gather(void) { MPI_Gather(in, n, MPI_LONG, out, n, MPI_LONG, root, MPI_COMM_WORLD); }
static void scatter(void) { MPI_Scatter(in, n, MPI_LONG, out, n, MPI_LONG, root, MPI_COMM_WORLD); }

static const struct {
	const char *name;
	void (*call)(void);
} operations[] = {
	{"barrier", barrier}, {"bcast", bcast}, {"reduce", reduce}, {"allreduce", allreduce},
	{"alltoall", alltoall}, {"allgather", allgather}, {"gather", gather}, {"scatter", scatter}, {0, 0},
};

static void (*operation)(void);

static void work(long rounds)
{
	for (; rounds > 0; rounds--)
		operation();
}

/* want is number i of what comes in at this rank, and 0 where nothing does. */
static long want(long i)
{
	long from = i / n, k = i % n;
	if (is("alltoall"))
		return at(from, rank, k);
	if (is("allgather") || (is("gather") && rank == root))
		return at(from, 0, k);
	if (from > 0)
		return 0;
	if (is("bcast") && rank != root)
		return at(root, 0, k);
	if (is("scatter"))
		return at(root, rank, k);
	if (is("allreduce") || (is("reduce") && rank == root))
		return at(size * (size - 1) / 2, 0, k * size);
	return 0;
}

int main(int argc, char **argv)
{
	double seconds = 1e-3 * number(argc, argv, "-ms", "500");

	name = option(argc, argv, "-call", "barrier");
	n = number(argc, argv, "-length", "8") / 8;
	for (int i = 0; operations[i].name; i++)
		if (is(operations[i].name))
			operation = operations[i].call;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (!operation)
		fail("there is no such operation", 0, 1);
	in = calloc(n * size, sizeof *in);
	out = calloc(n * size, sizeof *out);
	for (long i = 0; i < n * size; i++) {
		in[i] = at(rank, i / n, i % n);
		out[i] = 0;
	}
	measure(rank, seconds, 1, work);
	memset(out, 0, n * size * sizeof *out);
	operation();
	for (long i = 0; i < n * size; i++)
		if (out[i] != want(i))
			fail(name, out[i], want(i));
	MPI_Finalize();
	return 0;
}
