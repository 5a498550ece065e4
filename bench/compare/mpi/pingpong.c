// The rank program that measures an MPI the way mx_pingpong measures gomx.
//
// Started as two ranks. Rank 0 prints one JSON object a line with the fields of
// `mx_pingpong -json`, and "library", the MPI's own name for itself. Options:
//
//   -L FILE        message lengths, one a line (required)
//   -N n           timed exchanges per length: round trips, or windows with -window
//   -window n      stream n messages at a time to rank 1, which answers each window
//   -posted n      n receives that match nothing are posted on both sides first
//   -unexpected n  n messages wait unreceived at rank 1 meanwhile; afterwards it
//                  takes them newest first, and that is timed as well
//   -pin a,b       cores of rank 0 and rank 1
//   -deadline s    end the process after s seconds, whatever happens
//
// Times are taken over batches of exchanges, so that reading the clock does not
// show. A side sends from and receives into the same buffer.
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

enum { BATCHES = 21, MAX_LENGTHS = 256, MAX_WINDOW = 1 << 16, NAME_SHOWN = 300 };
enum { TAG_DATA = 1, TAG_ANSWER = 2, TAG_RESULT = 3, TAG_QUEUE = 1000 };

static struct {
    long lengths[MAX_LENGTHS];
    int length_count;
    long iterations;
    int window, posted, unexpected;
    int cores[2];
    int deadline;
} options = {.iterations = 1000, .cores = {-1, -1}};

static int rank;
static char *buffer;

struct summary {
    double min, p50, mean, p99, max, stddev;
};

static void die(const char *why, const char *what) {
    fprintf(stderr, "pingpong: %s: %s\n", why, what);
    exit(2);
}

// ---- options ----

static void read_lengths(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) die("cannot read the lengths", path);
    long length;
    while (fscanf(file, "%ld", &length) == 1) {
        if (length < 0 || length > 1L << 30) die("length out of range in", path);
        if (options.length_count == MAX_LENGTHS) die("too many lengths in", path);
        options.lengths[options.length_count++] = length;
    }
    fclose(file);
    if (options.length_count == 0) die("no lengths in", path);
}

static long positive(const char *name, const char *text, long most) {
    char *end;
    long value = strtol(text, &end, 10);
    if (*end || value < 1 || value > most) die("not a number, or out of range", name);
    return value;
}

static void read_options(int argc, char **argv) {
    for (int i = 1; i + 1 < argc; i += 2) {
        const char *name = argv[i], *value = argv[i + 1];
        if (!strcmp(name, "-L")) read_lengths(value);
        else if (!strcmp(name, "-N")) options.iterations = positive(name, value, 1L << 40);
        else if (!strcmp(name, "-window")) options.window = positive(name, value, MAX_WINDOW);
        else if (!strcmp(name, "-posted")) options.posted = positive(name, value, 1 << 20);
        else if (!strcmp(name, "-unexpected")) options.unexpected = positive(name, value, 1 << 20);
        else if (!strcmp(name, "-deadline")) options.deadline = positive(name, value, 1 << 20);
        else if (!strcmp(name, "-pin")) {
            if (sscanf(value, "%d,%d", &options.cores[0], &options.cores[1]) != 2) die("not two cores", value);
        } else die("unknown option", name);
    }
    if (argc % 2 == 0) die("option without a value", argv[argc - 1]);
    if (options.length_count == 0) die("needed", "-L FILE");
}

static void pin(int who) {
    if (who < 0 || who > 1 || options.cores[who] < 0) return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(options.cores[who], &set);
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
    int p99 = (99 * n + 99) / 100 - 1;
    double middle = n % 2 ? samples[n / 2] : (samples[n / 2 - 1] + samples[n / 2]) / 2;
    return (struct summary){samples[0], middle, mean, samples[p99], samples[n - 1], n > 1 ? sqrt(squares / (n - 1)) : 0};
}

// ---- what is timed ----

static void round_trips(int length, long count) {
    for (long i = 0; i < count; i++) {
        if (rank == 0) {
            MPI_Send(buffer, length, MPI_BYTE, 1, TAG_DATA, MPI_COMM_WORLD);
            MPI_Recv(buffer, length, MPI_BYTE, 1, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(buffer, length, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(buffer, length, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD);
        }
    }
}

static void windows(int length, long count) {
    static MPI_Request requests[MAX_WINDOW];
    for (long i = 0; i < count; i++) {
        if (rank == 0) {
            for (int w = 0; w < options.window; w++)
                MPI_Isend(buffer, length, MPI_BYTE, 1, TAG_DATA, MPI_COMM_WORLD, &requests[w]);
            MPI_Waitall(options.window, requests, MPI_STATUSES_IGNORE);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, TAG_ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            for (int w = 0; w < options.window; w++)
                MPI_Irecv(buffer, length, MPI_BYTE, 0, TAG_DATA, MPI_COMM_WORLD, &requests[w]);
            MPI_Waitall(options.window, requests, MPI_STATUSES_IGNORE);
            MPI_Send(NULL, 0, MPI_BYTE, 0, TAG_ANSWER, MPI_COMM_WORLD);
        }
    }
}

static long batch_size(void) {
    return options.iterations < BATCHES ? 1 : options.iterations / BATCHES;
}

static int batch_count(void) {
    return options.iterations < BATCHES ? (int)options.iterations : BATCHES;
}

// Microseconds per exchange, summarised over batches after two to warm up.
static struct summary time_batches(void (*exchange)(int, long), int length) {
    double samples[BATCHES];
    long size = batch_size();
    int count = batch_count();
    exchange(length, 2 * size);
    for (int b = 0; b < count; b++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double start = MPI_Wtime();
        exchange(length, size);
        samples[b] = (MPI_Wtime() - start) / size * 1e6;
    }
    return summarize(samples, count);
}

// ---- queues that lie in the way ----

// What is parked in a queue has a small buffer of its own: it must not overwrite
// the messages that are timed.
static char parked[8];

static MPI_Request *post_strangers(void) {
    MPI_Request *requests = malloc(options.posted * sizeof *requests);
    if (!requests) die("out of memory", "-posted");
    for (int i = 0; i < options.posted; i++)
        MPI_Irecv(parked, sizeof parked, MPI_BYTE, !rank, TAG_QUEUE + i, MPI_COMM_WORLD, &requests[i]);
    return requests;
}

// In posting order, so that every one is found at the head of the queue.
static void match_strangers(MPI_Request *requests) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < options.posted; i++)
        MPI_Send(parked, sizeof parked, MPI_BYTE, !rank, TAG_QUEUE + i, MPI_COMM_WORLD);
    MPI_Waitall(options.posted, requests, MPI_STATUSES_IGNORE);
    free(requests);
}

static void park_unexpected(void) {
    if (rank == 0) {
        MPI_Request *requests = malloc(options.unexpected * sizeof *requests);
        if (!requests) die("out of memory", "-unexpected");
        for (int i = 0; i < options.unexpected; i++)
            MPI_Isend(parked, sizeof parked, MPI_BYTE, 1, TAG_QUEUE + i, MPI_COMM_WORLD, &requests[i]);
        MPI_Waitall(options.unexpected, requests, MPI_STATUSES_IGNORE);
        free(requests);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

// Microseconds per message for rank 1 to receive them newest first; told to rank 0.
static double take_unexpected(void) {
    double each = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Recv(&each, 1, MPI_DOUBLE, 1, TAG_RESULT, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        return each;
    }
    double start = MPI_Wtime();
    for (int i = options.unexpected - 1; i >= 0; i--)
        MPI_Recv(parked, sizeof parked, MPI_BYTE, 0, TAG_QUEUE + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    each = (MPI_Wtime() - start) / options.unexpected * 1e6;
    MPI_Send(&each, 1, MPI_DOUBLE, 0, TAG_RESULT, MPI_COMM_WORLD);
    return each;
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

static void print_result(long length, struct summary us, double unexpected_us) {
    printf("{\"transport\":\"mpi\",\"length\":%ld,\"iterations\":%ld", length, batch_size() * batch_count());
    if (options.window) {
        double rate = options.window / us.p50;
        printf(",\"window\":%d,\"bandwidth_MBps\":%.3f,\"rate_Mmsgps\":%.6f", options.window, rate * length, rate);
    } else {
        printf(",\"latency_us\":{\"min\":%.6f,\"p50\":%.6f,\"mean\":%.6f,\"p99\":%.6f,\"max\":%.6f,\"stddev\":%.6f}",
               us.min / 2, us.p50 / 2, us.mean / 2, us.p99 / 2, us.max / 2, us.stddev / 2);
        printf(",\"bandwidth_MBps\":%.3f", length / (us.p50 / 2));
    }
    if (options.posted) printf(",\"posted\":%d", options.posted);
    if (options.unexpected) printf(",\"unexpected\":%d,\"unexpected_us_per_msg\":%.6f", options.unexpected, unexpected_us);
    print_library();
    printf("}\n");
    fflush(stdout);
}

static void measure(long length) {
    MPI_Request *strangers = NULL;
    double unexpected_us = 0;
    if (options.posted) strangers = post_strangers();
    if (options.unexpected) park_unexpected();
    struct summary us = time_batches(options.window ? windows : round_trips, (int)length);
    if (options.unexpected) unexpected_us = take_unexpected();
    if (options.posted) match_strangers(strangers);
    if (rank == 0) print_result(length, us, unexpected_us);
}

static void allocate(void) {
    long most = 1;
    for (int i = 0; i < options.length_count; i++)
        if (options.lengths[i] > most) most = options.lengths[i];
    if (posix_memalign((void **)&buffer, 4096, most)) die("out of memory for", "the buffer");
    memset(buffer, rank + 1, most);
}

int main(int argc, char **argv) {
    // A launcher that is killed must not leave its ranks spinning.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    read_options(argc, argv);
    if (options.deadline) alarm(options.deadline);
    pin(launched_rank());
    MPI_Init(&argc, &argv);
    int size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) die("wrong number of ranks", "start exactly two");
    pin(rank);
    allocate();
    for (int i = 0; i < options.length_count; i++) measure(options.lengths[i]);
    MPI_Finalize();
    return 0;
}
