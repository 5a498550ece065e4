// The part of the binary interface of libibverbs (symbol versions IBVERBS_1.0,
// IBVERBS_1.1 and, if it is there, IBVERBS_1.11) that this package uses, in declarations of its own, so that building
// needs no headers of others. abi_test.go compares them with the real ones.
//
// Fields that are not used have names that begin with pad or old. A structure that
// only the library makes may end here before it ends there.
#ifndef GOMX_VERBS_ABI_H
#define GOMX_VERBS_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { VB_NAME = 64, VB_PATH = 256, VB_FIRMWARE = 64 };

enum { VB_TRANSPORT_IB = 0 };

enum { VB_PORT_ACTIVE = 4 };

enum {
	VB_LOCAL_WRITE = 1 << 0,
	VB_REMOTE_WRITE = 1 << 1,
	VB_REMOTE_READ = 1 << 2,
};

enum { VB_QPT_RC = 2 };

enum { VB_RESET, VB_INIT, VB_RTR, VB_RTS, VB_SQD, VB_SQE, VB_ERR };

enum {
	VB_SET_STATE = 1 << 0,
	VB_SET_ACCESS = 1 << 3,
	VB_SET_PKEY_INDEX = 1 << 4,
	VB_SET_PORT = 1 << 5,
	VB_SET_PATH = 1 << 7,
	VB_SET_MTU = 1 << 8,
	VB_SET_TIMEOUT = 1 << 9,
	VB_SET_RETRIES = 1 << 10,
	VB_SET_RNR_RETRIES = 1 << 11,
	VB_SET_RQ_PSN = 1 << 12,
	VB_SET_READS_OUT = 1 << 13,
	VB_SET_RNR_TIMER = 1 << 15,
	VB_SET_SQ_PSN = 1 << 16,
	VB_SET_READS_IN = 1 << 17,
	VB_SET_DEST_QPN = 1 << 20,
};

enum { VB_WR_WRITE = 0, VB_WR_SEND = 2, VB_WR_READ = 4 };

enum {
	VB_SIGNALED = 1 << 1,
	VB_INLINE = 1 << 3,
};

enum { VB_WC_SEND = 0, VB_WC_WRITE = 1, VB_WC_READ = 2, VB_WC_RECV = 1 << 7 };

enum { VB_GID_IB, VB_GID_ROCE_V1, VB_GID_ROCE_V2 };

struct vb_context;

struct vb_gid_entry {
	_Alignas(8) uint8_t gid[16];
	uint32_t index, port, type, interface;
};

struct vb_device {
	void *pad_ops[2];
	int32_t node_type;
	int32_t transport;
	char name[VB_NAME];
	char dev_name[VB_NAME];
	char dev_path[VB_PATH];
	char ibdev_path[VB_PATH];
};

struct vb_device_attr {
	char firmware[VB_FIRMWARE];
	uint64_t node_guid; // big-endian
	uint64_t pad_image_guid;
	uint64_t max_mr_size;
	uint64_t pad_page_sizes;
	uint32_t vendor, part, pad_hw_version;
	int32_t max_qp, max_qp_wr;
	uint32_t pad_caps;
	int32_t max_sge, max_sge_read, max_cq, max_cqe, max_mr, max_pd;
	int32_t max_reads_in, pad_ee_reads, pad_res_reads, max_reads_out, pad_ee_out;
	int32_t pad_atomic, pad_ee, pad_rdd, pad_mw, pad_raw6, pad_raw_eth;
	int32_t pad_groups, pad_attached, pad_all_attached, pad_ah, pad_fmr, pad_maps;
	int32_t max_srq, max_srq_wr, max_srq_sge;
	uint16_t pad_pkeys;
	uint8_t ack_delay;
	uint8_t ports;
};

struct vb_port_attr {
	uint32_t state, max_mtu, active_mtu;
	int32_t gids;
	uint32_t pad_caps, max_message, pad_bad_pkeys, pad_bad_qkeys;
	uint16_t pad_pkeys, lid, sm_lid;
	uint8_t lmc, pad_lanes, sm_sl, pad_subnet_timeout, pad_init_type;
	uint8_t width, speed, physical, link_layer, flags;
	uint16_t pad_caps2;
};

struct vb_pd {
	struct vb_context *context;
	uint32_t handle;
};

struct vb_mr {
	struct vb_context *context;
	struct vb_pd *pd;
	void *addr;
	size_t length;
	uint32_t handle, lkey, rkey;
};

struct vb_channel {
	struct vb_context *context;
	int fd;
	int references;
};

struct vb_cq {
	struct vb_context *context;
	struct vb_channel *channel;
	void *user;
	uint32_t handle;
	int entries;
};

struct vb_wc {
	uint64_t id;
	uint32_t status, opcode, vendor_error, bytes, immediate, qp, source_qp, flags;
	uint16_t pad_pkey, pad_lid;
	uint8_t pad_sl, pad_path;
};

struct vb_srq {
	struct vb_context *context;
	void *user;
	struct vb_pd *pd;
	uint32_t handle;
};

struct vb_srq_init_attr {
	void *user;
	uint32_t max_wr, max_sge, limit;
};

struct vb_qp_cap {
	uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline;
};

struct vb_qp_init_attr {
	void *user;
	struct vb_cq *send_cq, *recv_cq;
	struct vb_srq *srq;
	struct vb_qp_cap cap;
	uint32_t type;
	int signal_all;
};

struct vb_qp {
	struct vb_context *context;
	void *user;
	struct vb_pd *pd;
	struct vb_cq *send_cq, *recv_cq;
	struct vb_srq *srq;
	uint32_t handle, number, state, type;
};

struct vb_route {
	_Alignas(8) uint8_t gid[16];
	uint32_t flow_label;
	uint8_t gid_index, hop_limit, traffic_class;
};

struct vb_path {
	struct vb_route route;
	uint16_t lid;
	uint8_t service_level, source_path, rate, global, port;
};

struct vb_qp_attr {
	uint32_t state, pad_current, mtu, pad_migration, pad_qkey, rq_psn, sq_psn, dest_qpn, access;
	struct vb_qp_cap cap;
	struct vb_path path, pad_other_path;
	uint16_t pkey_index, pad_other_pkey;
	uint8_t pad_notify, pad_draining, reads_out, reads_in, rnr_timer, port, timeout;
	uint8_t retries, rnr_retries, pad_other_port, pad_other_timeout;
	uint32_t pad_rate;
};

struct vb_sge {
	uint64_t addr;
	uint32_t length, lkey;
};

struct vb_send_wr {
	uint64_t id;
	struct vb_send_wr *next;
	struct vb_sge *list;
	int count;
	uint32_t opcode, flags, immediate;
	uint64_t remote_addr;
	uint32_t rkey;
	uint64_t pad_rest[9];
};

struct vb_recv_wr {
	uint64_t id;
	struct vb_recv_wr *next;
	struct vb_sge *list;
	int count;
};

struct vb_async_event {
	union {
		void *object; // a queue
		int port;
	} element;
	uint32_t type;
};

// The calls that the library does not export: programs reach them through here.
struct vb_ops {
	void *old_first[11];
	int (*poll_cq)(struct vb_cq *, int, struct vb_wc *);
	int (*req_notify_cq)(struct vb_cq *, int);
	void *old_second[7];
	int (*post_srq_recv)(struct vb_srq *, struct vb_recv_wr *, struct vb_recv_wr **);
	void *old_third[4];
	int (*post_send)(struct vb_qp *, struct vb_send_wr *, struct vb_send_wr **);
	int (*post_recv)(struct vb_qp *, struct vb_recv_wr *, struct vb_recv_wr **);
	void *old_fourth[5];
};

struct vb_context {
	struct vb_device *device;
	struct vb_ops ops;
	int cmd_fd, async_fd, vectors;
};

#endif
