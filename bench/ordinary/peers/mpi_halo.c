/* A stencil of five points on a plate, of which each rank has a rectangle, with its neighbours' cells around it. The time of a step. */
#include "repeat.h"

/* The sides are above, below, to the left and to the right. */
struct side {
	int rank, apart, cells;
	long edge, frame;
	MPI_Datatype type;
};

static int rank, top, left, height, width, stride;
static long step;
static double *now, *next;
static struct side sides[4];
static MPI_Comm cart;

/* want is what a cell must be now: the sum of its row, twice its column and the number of steps. */
static double want(long i)
{
	return top + i / stride + 2 * (left + i % stride) + step;
}

static void exchange(void)
{
	MPI_Request reqs[8];
	for (int i = 0; i < 4; i++)
		MPI_Irecv(now + sides[i].frame, 1, sides[i].type, sides[i].rank, i ^ 1, cart, &reqs[i]);
	for (int i = 0; i < 4; i++)
		MPI_Isend(now + sides[i].edge, 1, sides[i].type, sides[i].rank, i, cart, &reqs[4 + i]);
	MPI_Waitall(8, reqs, MPI_STATUSES_IGNORE);
}

/* update computes all cells, and those of the frame beyond the edges of the plate. */
static void update(void)
{
	for (int row = 1; row <= height; row++) {
		long at = (long)row * stride + 1;
		const double *above = now + at - stride, *below = now + at + stride, *before = now + at - 1, *after = now + at + 1;
		double *to = next + at;
		for (int i = 0; i < width; i++)
			to[i] = (above[i] + below[i] + before[i] + after[i]) / 4 + 1;
	}
	step++;
	for (int i = 0; i < 4; i++)
		if (sides[i].rank == MPI_PROC_NULL)
			for (int k = 0; k < sides[i].cells; k++)
				next[sides[i].frame + k * sides[i].apart] = want(sides[i].frame + k * sides[i].apart);
	double *was = now;
	now = next;
	next = was;
}

static void work(long rounds)
{
	for (; rounds > 0; rounds--) {
		exchange();
		update();
	}
}

static void find_sides(void)
{
	MPI_Datatype row, column;
	MPI_Type_contiguous(width, MPI_DOUBLE, &row);
	MPI_Type_vector(height, 1, stride, MPI_DOUBLE, &column);
	MPI_Type_commit(&row);
	MPI_Type_commit(&column);
	long first = stride + 1, last = (long)height * stride + 1;
	sides[0] = (struct side){0, 1, width, first, first - stride, row};
	sides[1] = (struct side){0, 1, width, last, last + stride, row};
	sides[2] = (struct side){0, stride, height, first, first - 1, column};
	sides[3] = (struct side){0, stride, height, first + width - 1, first + width, column};
	MPI_Cart_shift(cart, 0, 1, &sides[0].rank, &sides[1].rank);
	MPI_Cart_shift(cart, 1, 1, &sides[2].rank, &sides[3].rank);
}

int main(int argc, char **argv)
{
	double seconds = 1e-3 * number(argc, argv, "-ms", "500");
	int cells = number(argc, argv, "-cells", "128"), size, grid[2] = {0, 0}, periods[2] = {0, 0}, at[2];

	MPI_Init(&argc, &argv);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Dims_create(size, 2, grid);
	MPI_Cart_create(MPI_COMM_WORLD, 2, grid, periods, 0, &cart);
	MPI_Comm_rank(cart, &rank);
	MPI_Cart_coords(cart, rank, 2, at);
	if (cells % grid[0] || cells % grid[1])
		fail("cells along an edge that can't be divided", cells, 0);
	height = cells / grid[0];
	width = cells / grid[1];
	top = at[0] * height;
	left = at[1] * width;
	stride = width + 2;
	now = calloc((height + 2L) * stride, sizeof *now);
	next = calloc((height + 2L) * stride, sizeof *next);
	for (long i = 0; i < (height + 2L) * stride; i++)
		now[i] = next[i] = want(i);
	find_sides();
	measure(rank, seconds, 1, work);
	for (int row = 1; row <= height; row++)
		for (int column = 1; column <= width; column++)
			if (now[(long)row * stride + column] != want((long)row * stride + column))
				fail("a cell", now[(long)row * stride + column], want((long)row * stride + column));
	MPI_Finalize();
	return 0;
}
