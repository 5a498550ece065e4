/* What the programs of this folder share: time, processor time, and the line that each rank prints. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static double began, used;

static double processor_time(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return u.ru_utime.tv_sec + u.ru_stime.tv_sec + 1e-6 * (u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static void begin(void)
{
	used = processor_time();
	began = MPI_Wtime();
}

static void print(double value, long ops)
{
	double cpu = 1e6 * (processor_time() - used);
	char library[MPI_MAX_LIBRARY_VERSION_STRING + 1];
	int length;

	MPI_Get_library_version(library, &length);
	library[strcspn(library, "\"\\")] = 0; /* the rest would end the string of JSON too early */
	for (char *c = library; *c; c++)
		if (*c < ' ')
			*c = *c == '\n' ? ';' : ' ';
	printf("{\"value\":%g,\"ops\":%ld,\"cpu_us\":%g,\"library\":\"%s\"}\n", value, ops, cpu, library);
	fflush(stdout);
}

/* each prints microseconds for each operation on rank 0, and the processor time alone on others. */
static void each(int rank, long ops)
{
	if (rank == 0)
		print(1e6 * (MPI_Wtime() - began) / ops, ops);
	else
		print(0, 0);
}

/* option is the value of a flag, as in "-count 10". */
static const char *option(int argc, char **argv, const char *name, const char *otherwise)
{
	for (int i = 1; i + 1 < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return argv[i + 1];
	return otherwise;
}

static long number(int argc, char **argv, const char *name, const char *otherwise)
{
	return atol(option(argc, argv, name, otherwise));
}

static void fail(const char *what, long got, long want)
{
	fprintf(stderr, "%s: %ld, not %ld\n", what, got, want);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* stamp marks a message with a number, in its first byte and its last one; check_stamp compares. */
static inline void stamp(char *buf, int length, long n)
{
	if (length > 0)
		buf[0] = buf[length - 1] = (char)n;
}

static inline void check_stamp(const char *buf, int length, long n)
{
	if (length > 0 && (buf[0] != (char)n || buf[length - 1] != (char)n))
		fail("a message begins with another number", buf[0], (char)n);
}

/* given says whether there is a flag without a value. */
static int given(int argc, char **argv, const char *name)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return 1;
	return 0;
}
