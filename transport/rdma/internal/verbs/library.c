//go:build linux && cgo

#define _GNU_SOURCE
#include "library.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

// The functions of the library. Their symbol versions say what they mean, also in
// libraries that are newer than this program.
#define FUNCTIONS(f)                                                                          \
	f(struct vb_device **, get_device_list, "1.1", (int *))                               \
	f(void, free_device_list, "1.1", (struct vb_device **))                               \
	f(struct vb_context *, open_device, "1.1", (struct vb_device *))                      \
	f(int, close_device, "1.1", (struct vb_context *))                                    \
	f(int, query_device, "1.1", (struct vb_context *, struct vb_device_attr *))           \
	f(int, query_port, "1.1", (struct vb_context *, uint8_t, struct vb_port_attr *))      \
	f(struct vb_pd *, alloc_pd, "1.1", (struct vb_context *))                             \
	f(int, dealloc_pd, "1.1", (struct vb_pd *))                                           \
	f(struct vb_mr *, reg_mr, "1.1", (struct vb_pd *, void *, size_t, int))               \
	f(int, dereg_mr, "1.1", (struct vb_mr *))                                             \
	f(struct vb_channel *, create_comp_channel, "1.0", (struct vb_context *))             \
	f(int, destroy_comp_channel, "1.0", (struct vb_channel *))                            \
	f(struct vb_cq *, create_cq, "1.1",                                                   \
	  (struct vb_context *, int, void *, struct vb_channel *, int))                       \
	f(int, destroy_cq, "1.1", (struct vb_cq *))                                           \
	f(int, get_cq_event, "1.1", (struct vb_channel *, struct vb_cq **, void **))          \
	f(void, ack_cq_events, "1.1", (struct vb_cq *, unsigned int))                         \
	f(struct vb_srq *, create_srq, "1.1", (struct vb_pd *, struct vb_srq_init_attr *))    \
	f(int, destroy_srq, "1.1", (struct vb_srq *))                                         \
	f(struct vb_qp *, create_qp, "1.1", (struct vb_pd *, struct vb_qp_init_attr *))       \
	f(int, modify_qp, "1.1", (struct vb_qp *, struct vb_qp_attr *, int))                  \
	f(int, query_qp, "1.1",                                                               \
	  (struct vb_qp *, struct vb_qp_attr *, int, struct vb_qp_init_attr *))               \
	f(int, destroy_qp, "1.1", (struct vb_qp *))                                           \
	f(int, get_async_event, "1.1", (struct vb_context *, struct vb_async_event *))        \
	f(void, ack_async_event, "1.1", (struct vb_async_event *))

#define MEMBER(result, name, version, parameters) result(*name) parameters;
static struct {
	FUNCTIONS(MEMBER)
} lib;

// Those that older libraries lack.
static int (*query_gid_table)(struct vb_context *, struct vb_gid_entry *, size_t, uint32_t, size_t);

static const char *find(void *library, void *member, const char *name, const char *version) {
	static char why[256];
	void *f = dlvsym(library, name, version);
	if (!f) {
		const char *e = dlerror();
		snprintf(why, sizeof why, "%s", e ? e : name);
		return why;
	}
	memcpy(member, &f, sizeof f);
	return NULL;
}

const char *vb_load(void) {
	// It stays open: providers that it has loaded don't come out again.
	void *library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return dlerror();
	const char *why;
#define LOOK_UP(result, name, version, parameters) \
	if ((why = find(library, &lib.name, "ibv_" #name, "IBVERBS_" version))) \
		return why;
	FUNCTIONS(LOOK_UP)
	(void)find(library, &query_gid_table, "_ibv_query_gid_table", "IBVERBS_1.11");
	return NULL;
}

struct vb_device **vb_get_device_list(int *count) { return lib.get_device_list(count); }
void vb_free_device_list(struct vb_device **list) { lib.free_device_list(list); }
struct vb_context *vb_open_device(struct vb_device *device) { return lib.open_device(device); }
int vb_close_device(struct vb_context *context) { return lib.close_device(context); }

int vb_query_device(struct vb_context *context, struct vb_device_attr *attr) {
	return lib.query_device(context, attr);
}

int vb_query_port(struct vb_context *context, uint8_t port, struct vb_port_attr *attr) {
	return lib.query_port(context, port, attr);
}

int vb_query_gids(struct vb_context *context, struct vb_gid_entry *entries, int n) {
	if (!query_gid_table)
		return -ENOSYS;
	return (int)query_gid_table(context, entries, n, 0, sizeof *entries);
}

struct vb_pd *vb_alloc_pd(struct vb_context *context) { return lib.alloc_pd(context); }
int vb_dealloc_pd(struct vb_pd *pd) { return lib.dealloc_pd(pd); }

struct vb_mr *vb_reg_mr(struct vb_pd *pd, uintptr_t addr, size_t length, int access) {
	return lib.reg_mr(pd, (void *)addr, length, access);
}

int vb_dereg_mr(struct vb_mr *mr) { return lib.dereg_mr(mr); }

struct vb_channel *vb_create_channel(struct vb_context *context) {
	return lib.create_comp_channel(context);
}

int vb_destroy_channel(struct vb_channel *channel) { return lib.destroy_comp_channel(channel); }

struct vb_cq *vb_create_cq(struct vb_context *context, int entries, struct vb_channel *channel) {
	return lib.create_cq(context, entries, NULL, channel, 0);
}

int vb_destroy_cq(struct vb_cq *cq) { return lib.destroy_cq(cq); }

struct vb_srq *vb_create_srq(struct vb_pd *pd, struct vb_srq_init_attr *attr) {
	return lib.create_srq(pd, attr);
}

int vb_destroy_srq(struct vb_srq *srq) { return lib.destroy_srq(srq); }

struct vb_qp *vb_create_qp(struct vb_pd *pd, struct vb_qp_init_attr *attr) {
	return lib.create_qp(pd, attr);
}

int vb_modify_qp(struct vb_qp *qp, struct vb_qp_attr *attr, int mask) {
	return lib.modify_qp(qp, attr, mask);
}

int vb_query_qp(struct vb_qp *qp, struct vb_qp_attr *attr, int mask, struct vb_qp_init_attr *init) {
	return lib.query_qp(qp, attr, mask, init);
}

int vb_destroy_qp(struct vb_qp *qp) { return lib.destroy_qp(qp); }

int vb_poll(vb_address queue, int tries, int n, vb_address completions) {
	struct vb_cq *cq = (struct vb_cq *)queue;
	struct vb_wc *wc = (struct vb_wc *)completions;
	int found;
	do
		found = cq->context->ops.poll_cq(cq, n, wc);
	while (found == 0 && --tries > 0);
	return found;
}

int vb_arm(struct vb_cq *cq) { return cq->context->ops.req_notify_cq(cq, 0); }

int vb_drain(struct vb_channel *channel, struct vb_cq *cq) {
	struct vb_cq *of;
	void *user;
	int n = 0;
	while (lib.get_cq_event(channel, &of, &user) == 0)
		n++;
	if (n > 0)
		lib.ack_cq_events(cq, n);
	return n;
}

int vb_next_event(struct vb_context *context, struct vb_async_event *event) {
	if (lib.get_async_event(context, event) != 0)
		return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -errno;
	lib.ack_async_event(event);
	return 1;
}

int vb_post_sends(vb_address pair, vb_address requests, int n, int *posted) {
	struct vb_qp *qp = (struct vb_qp *)pair;
	struct vb_send_wr *wr = (struct vb_send_wr *)requests;
	for (int i = 0; i < n; i++)
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
	struct vb_send_wr *bad = wr;
	int e = qp->context->ops.post_send(qp, wr, &bad);
	*posted = e ? (int)(bad - wr) : n;
	return e;
}

int vb_post_receives(vb_address inbox, vb_address requests, int n, int *posted) {
	struct vb_srq *srq = (struct vb_srq *)inbox;
	struct vb_recv_wr *wr = (struct vb_recv_wr *)requests;
	for (int i = 0; i < n; i++)
		wr[i].next = i + 1 < n ? &wr[i + 1] : NULL;
	struct vb_recv_wr *bad = wr;
	int e = srq->context->ops.post_srq_recv(srq, wr, &bad);
	*posted = e ? (int)(bad - wr) : n;
	return e;
}
