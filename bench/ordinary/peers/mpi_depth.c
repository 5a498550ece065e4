/* Half a round trip behind receives that match nothing, or the receiving of messages that came before their receives, newest first. */
#include "figure.h"

enum { length = 8, first_tag = 2 };

static void rounds(int rank, long count)
{
	char buf[length] = {0};
	for (long i = 0; i < 2 * count; i++)
		if (i % 2 == rank) {
			stamp(buf, length, i);
			MPI_Send(buf, length, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD);
		} else {
			MPI_Recv(buf, length, MPI_BYTE, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			check_stamp(buf, length, i);
		}
}

static void behind(int rank, long posted, long count)
{
	char *bufs = calloc(posted + 1, length), buf[length] = {0};
	MPI_Request *reqs = calloc(posted + 1, sizeof *reqs);
	for (long i = 0; i < posted; i++)
		MPI_Irecv(bufs + i * length, length, MPI_BYTE, 1 - rank, first_tag + i, MPI_COMM_WORLD, &reqs[i]);
	rounds(rank, count / 10 + 1);
	begin();
	rounds(rank, count);
	each(rank, 2 * count);
	for (long i = 0; i < posted; i++) {
		stamp(buf, length, i);
		MPI_Send(buf, length, MPI_BYTE, 1 - rank, first_tag + i, MPI_COMM_WORLD);
	}
	MPI_Waitall(posted, reqs, MPI_STATUSES_IGNORE);
	for (long i = 0; i < posted; i++)
		check_stamp(bufs + i * length, length, i);
}

static void late(int rank, long count)
{
	char buf[length] = {0};
	if (rank == 1) { /* it waits for none until all have been sent */
		char *bufs = calloc(count, length);
		MPI_Request *reqs = calloc(count, sizeof *reqs);
		begin();
		for (long i = 0; i < count; i++) {
			stamp(bufs + i * length, length, i);
			MPI_Isend(bufs + i * length, length, MPI_BYTE, 0, first_tag + i, MPI_COMM_WORLD, &reqs[i]);
		}
		MPI_Waitall(count, reqs, MPI_STATUSES_IGNORE);
		each(rank, count);
		MPI_Barrier(MPI_COMM_WORLD);
		return;
	}
	for (long i = count - 1; i >= 0; i--) {
		MPI_Recv(buf, length, MPI_BYTE, 1, first_tag + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		check_stamp(buf, length, i);
		if (i == count - 1)
			begin();
	}
	each(rank, count > 1 ? count - 1 : 1);
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	int rank;
	long unexpected = number(argc, argv, "-unexpected", "0");

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (unexpected > 0)
		late(rank, unexpected);
	else
		behind(rank, number(argc, argv, "-posted", "0"), number(argc, argv, "-count", "1000"));
	MPI_Finalize();
	return 0;
}
