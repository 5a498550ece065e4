// The rank program that measures collectives of an MPI the way bench/collective
// measures gomx.
//
// Rank 0 prints one JSON object a line with the fields of bench/collective, and "library", the
// MPI's own name for itself. Options:
//
//   -calls LIST    what to measure: pingpong:8,barrier:0,allreduce:4096,... (required)
//   -batch ms      how long a batch takes at least
//   -pin a,b,...   core of each rank
//   -deadline s    end the process after s seconds, whatever happens
//
// A batch is a barrier, and then calls one after the other; it has taken as long as it took the rank
// that took longest.
#define _GNU_SOURCE
#include <math.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { BATCHES = 21, WARM = 3, MAX_CALLS = 64, MAX_CORES = 64, NAME_SHOWN = 200 };

struct call {
    char name[24];
    long length;
};

static struct call calls[MAX_CALLS];
static int call_count;
static double batch_ms = 5;
static int cores[MAX_CORES], core_count, deadline;

static int rank, size;
static char *from, *to;

struct summary {
    double min, p50, mean, p99, max, stddev;
};

static void die(const char *why, const char *what) {
    fprintf(stderr, "collective: %s: %s\n", why, what);
    exit(2);
}

// ---- options ----

static void read_calls(char *list) {
    for (char *entry = strtok(list, ","); entry; entry = strtok(NULL, ",")) {
        if (call_count == MAX_CALLS) die("too many calls", entry);
        struct call *c = &calls[call_count++];
        if (sscanf(entry, "%23[a-z]:%ld", c->name, &c->length) != 2 || c->length < 0 || c->length > 1L << 28)
            die("not a call with a length", entry);
    }
}

static void read_cores(char *list) {
    for (char *entry = strtok(list, ","); entry; entry = strtok(NULL, ",")) {
        if (core_count == MAX_CORES) die("too many cores", entry);
        cores[core_count++] = atoi(entry);
    }
}

static void read_options(int argc, char **argv) {
    for (int i = 1; i + 1 < argc; i += 2) {
        char *name = argv[i], *value = argv[i + 1];
        if (!strcmp(name, "-calls")) read_calls(value);
        else if (!strcmp(name, "-batch")) batch_ms = atof(value);
        else if (!strcmp(name, "-deadline")) deadline = atoi(value);
        else if (!strcmp(name, "-pin")) read_cores(value);
        else die("unknown option", name);
    }
    if (argc % 2 == 0) die("option without a value", argv[argc - 1]);
    if (call_count == 0) die("needed", "-calls LIST");
}

static void pin(int who) {
    if (who < 0 || who >= core_count) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cores[who], &set);
    if (sched_setaffinity(0, sizeof set, &set)) die("cannot run on the core asked for", "-pin");
}

// Known before MPI_Init from the launcher's environment, so that the memory MPI
// sets aside is touched from the right core.
static int launched_rank(void) {
    const char *text = getenv("OMPI_COMM_WORLD_RANK");
    if (!text) text = getenv("PMI_RANK");
    return text ? atoi(text) : -1;
}

// ---- statistics ----

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct summary summarize(double *samples, int n) {
    qsort(samples, n, sizeof *samples, ascending);
    double sum = 0, squares = 0;
    for (int i = 0; i < n; i++) sum += samples[i];
    double mean = sum / n;
    for (int i = 0; i < n; i++) squares += (samples[i] - mean) * (samples[i] - mean);
    return (struct summary){samples[0], samples[n / 2], mean, samples[(99 * n + 99) / 100 - 1], samples[n - 1], sqrt(squares / (n - 1))};
}

// ---- what is timed ----

static void barrier(long length) {
    (void)length;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(long length) { MPI_Bcast(from, length, MPI_BYTE, 0, MPI_COMM_WORLD); }

static void reduce(long length) { MPI_Reduce(from, to, length / 8, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD); }

static void allreduce(long length) { MPI_Allreduce(from, to, length / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }

static void allgather(long length) { MPI_Allgather(from, length, MPI_BYTE, to, length, MPI_BYTE, MPI_COMM_WORLD); }

static void alltoall(long length) { MPI_Alltoall(from, length, MPI_BYTE, to, length, MPI_BYTE, MPI_COMM_WORLD); }

// Half a round trip of ranks 0 and 1 is a call, so that there is one each way in two.
static void pingpong(long length) {
    static int turn;
    if (rank == (turn ^= 1)) MPI_Send(from, length, MPI_BYTE, !rank, 1, MPI_COMM_WORLD);
    else if (rank < 2) MPI_Recv(from, length, MPI_BYTE, !rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static const struct {
    const char *name;
    void (*run)(long);
} known[] = {{"pingpong", pingpong}, {"barrier", barrier}, {"bcast", bcast}, {"reduce", reduce},
             {"allreduce", allreduce}, {"allgather", allgather}, {"alltoall", alltoall}};

static void (*find(const char *name))(long) {
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(known[i].name, name)) return known[i].run;
    die("unknown call", name);
    return NULL;
}

// Microseconds that a call takes in a batch of so many, on the slowest rank.
static double batch(void (*call)(long), long length, long count) {
    MPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (long i = 0; i < count; i++) call(length);
    double took = (MPI_Wtime() - start) / count * 1e6, longest;
    MPI_Allreduce(&took, &longest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return longest;
}

// How many calls make a batch long enough; an even number.
static long calibrate(void (*call)(long), long length) {
    long count = 2;
    for (;;) {
        double ms = batch(call, length, count) * count / 1000;
        if (ms >= batch_ms || count >= 1L << 24) return count;
        count *= ms < batch_ms / 16 ? 8 : 2;
    }
}

static struct summary measure(const struct call *c) {
    void (*call)(long) = find(c->name);
    double samples[BATCHES];
    memset(from, 0, c->length);
    long count = calibrate(call, c->length);
    for (int b = -WARM; b < BATCHES; b++) {
        double us = batch(call, c->length, count);
        if (b >= 0) samples[b] = us;
    }
    return summarize(samples, BATCHES);
}

// ---- printing ----

static void print_library(void) {
    char name[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(name, &length);
    printf(",\"library\":\"");
    for (const char *c = name; *c && c < name + NAME_SHOWN; c++)
        putchar(*c == '"' || *c == '\\' ? '\'' : *c == '\n' ? ';' : (unsigned char)*c < ' ' ? ' ' : *c);
    printf("\"");
}

static void print_result(const struct call *c, struct summary us) {
    printf("{\"transport\":\"mpi\",\"call\":\"%s\",\"length\":%ld,\"ranks\":%d", c->name, c->length, size);
    printf(",\"latency_us\":{\"min\":%.6f,\"p50\":%.6f,\"mean\":%.6f,\"p99\":%.6f,\"max\":%.6f,\"stddev\":%.6f}",
           us.min, us.p50, us.mean, us.p99, us.max, us.stddev);
    print_library();
    printf("}\n");
    fflush(stdout);
}

static char *allocate(void) {
    long most = 1;
    for (int i = 0; i < call_count; i++)
        if (calls[i].length > most) most = calls[i].length;
    char *buffer;
    if (posix_memalign((void **)&buffer, 4096, most * size)) die("out of memory for", "the buffers");
    memset(buffer, 0, most * size);
    return buffer;
}

// settle has the ranks talk until the system has spread them over the cores.
static void settle(void) {
    double until = MPI_Wtime() + 0.4;
    for (int more = 1; more;) {
        MPI_Barrier(MPI_COMM_WORLD);
        more = MPI_Wtime() < until;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    // A launcher that is killed must not leave its ranks spinning.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    read_options(argc, argv);
    if (deadline) alarm(deadline);
    pin(launched_rank());
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    from = allocate();
    to = allocate();
    settle();
    for (int i = 0; i < call_count; i++) {
        struct summary us = measure(&calls[i]);
        if (rank == 0) print_result(&calls[i], us);
    }
    MPI_Finalize();
    return 0;
}
