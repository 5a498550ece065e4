/* Rank 0 answers the requests of all other ranks, from MPI_ANY_SOURCE. The time for each request. */
#include "repeat.h"

enum { request_tag = 1, answer_tag = 2 };

struct message {
	long client, number, rest[6];
};

static int rank, clients;

static void serve(long requests)
{
	struct message buf;
	MPI_Status st;
	for (long i = 0; i < requests; i++) {
		MPI_Recv(&buf, sizeof buf, MPI_BYTE, MPI_ANY_SOURCE, request_tag, MPI_COMM_WORLD, &st);
		if (buf.client != st.MPI_SOURCE)
			fail("a request names its client", buf.client, st.MPI_SOURCE);
		buf.number *= 2;
		MPI_Send(&buf, sizeof buf, MPI_BYTE, st.MPI_SOURCE, answer_tag, MPI_COMM_WORLD);
	}
}

static void ask(long requests)
{
	for (long i = 0; i < requests; i++) {
		struct message buf = {rank, i};
		MPI_Send(&buf, sizeof buf, MPI_BYTE, 0, request_tag, MPI_COMM_WORLD);
		MPI_Recv(&buf, sizeof buf, MPI_BYTE, 0, answer_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (buf.client != rank || buf.number != 2 * i)
			fail("an answer", buf.number, 2 * i);
	}
}

static void work(long rounds)
{
	if (rank == 0)
		serve(rounds * clients);
	else
		ask(rounds);
}

int main(int argc, char **argv)
{
	double seconds = 1e-3 * number(argc, argv, "-ms", "500");

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &clients);
	clients--;
	measure(rank, seconds, clients, work);
	MPI_Finalize();
	return 0;
}
