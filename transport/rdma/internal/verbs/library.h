// What Go calls. Functions named as those of libibverbs pass the call on; a
// negative or missing result comes with errno. None may be called before vb_load
// has returned NULL.
#ifndef GOMX_VERBS_LIBRARY_H
#define GOMX_VERBS_LIBRARY_H

#include "abi.h"

// vb_load opens the library. It returns NULL, or why not. Not for two threads at once.
const char *vb_load(void);

struct vb_device **vb_get_device_list(int *count);
void vb_free_device_list(struct vb_device **list);
struct vb_context *vb_open_device(struct vb_device *device);
int vb_close_device(struct vb_context *context);
int vb_query_device(struct vb_context *context, struct vb_device_attr *attr);
int vb_query_port(struct vb_context *context, uint8_t port, struct vb_port_attr *attr);


// vb_query_gids fetches the GIDs of all ports and returns how many, or a negative
// errno: -ENOSYS if the library is too old.
int vb_query_gids(struct vb_context *context, struct vb_gid_entry *entries, int n);

struct vb_pd *vb_alloc_pd(struct vb_context *context);
int vb_dealloc_pd(struct vb_pd *pd);
struct vb_mr *vb_reg_mr(struct vb_pd *pd, uintptr_t addr, size_t length, int access);
int vb_dereg_mr(struct vb_mr *mr);

struct vb_channel *vb_create_channel(struct vb_context *context);
int vb_destroy_channel(struct vb_channel *channel);
struct vb_cq *vb_create_cq(struct vb_context *context, int entries, struct vb_channel *channel);
int vb_destroy_cq(struct vb_cq *cq);

struct vb_srq *vb_create_srq(struct vb_pd *pd, struct vb_srq_init_attr *attr);
int vb_destroy_srq(struct vb_srq *srq);

struct vb_qp *vb_create_qp(struct vb_pd *pd, struct vb_qp_init_attr *attr);
int vb_modify_qp(struct vb_qp *qp, struct vb_qp_attr *attr, int mask);
int vb_query_qp(struct vb_qp *qp, struct vb_qp_attr *attr, int mask, struct vb_qp_init_attr *init);
int vb_destroy_qp(struct vb_qp *qp);

// An address of memory that is not Go's. As a number it passes without the checks
// that pointers get, which take longer than the rest of the call.
typedef uintptr_t vb_address;

// vb_poll takes up to n completions and returns how many, or a negative number. It
// looks so many times before it says that there are none.
int vb_poll(vb_address cq, int tries, int n, vb_address wc);

// vb_arm has the channel tell of the next completion. It returns an errno.
int vb_arm(struct vb_cq *cq);

// vb_drain takes all events from a channel that does not block, and acknowledges
// them. It returns how many there were. All must belong to the queue.
int vb_drain(struct vb_channel *channel, struct vb_cq *cq);

// vb_next_event takes one event of the device, if there is one, and acknowledges
// it: 1, 0, or a negative errno.
int vb_next_event(struct vb_context *context, struct vb_async_event *event);

// The posts link the first n requests and post them in one go. They return an
// errno, and in *posted how many were taken.
int vb_post_sends(vb_address qp, vb_address wr, int n, int *posted);
int vb_post_receives(vb_address srq, vb_address wr, int n, int *posted);

#endif
