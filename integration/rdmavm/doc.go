// Command rdmavm runs programs in a virtual machine that has RDMA devices, on
// machines that have none:
//
//	go run ./integration/rdmavm [-packages pkg,...] [-run regexp] [-short] [-v] [-hosts 1|2] [-mpi]
//	                            [-timeout d] [-cache dir] [-keep] [program args...]
//	go run ./integration/rdmavm -compare [-timeout d] [-cache dir] [-keep] [-- args of bench/compare...]
//
// The devices are Soft-RoCE, the kernel's verbs provider in software. The machine
// is emulated by qemu without hardware support, and takes a few seconds to start.
// It has no network to the outside.
//
// Without arguments, the command runs the suite (suite.go): the programs of
// rdma-core and perftest, which show that the devices work, and then the tests of
// this module that need such devices. With -packages it runs the tests of these packages,
// and further arguments go to the test binaries. With a program it runs that: a
// package that begins with ./ is built, other names are those of programs in the
// machine, such as mx_info, mx_pingpong, mx_stream, ib_send_lat, sh and the commands of busybox.
// Those run each other first: where "timeout" or "nohup" shall run iproute2's ip, say /bin/ip.
//
// With one host there is rxe0, on the dummy interface d0 with 10.79.0.1, and the pair
// rxe1 and rxe2, on interfaces d1 and d2 with 10.79.1.1 and 10.79.1.2 and a cable
// between them. There are also two network namespaces, n1 and n2, with a cable of their own, 10.80.0.1
// and 10.80.0.2. Programs in them see the RDMA devices, as programs in containers do, but no
// interface of theirs. Devices of their own they can't have. With kernel 6.1 and iproute2 6.1
// "rdma link add" makes one on an interface of a namespace, but the first packet of a queue pair fails with
// "local QP operation error", since rdma_rxe looks for its ways in the first namespace and has
// its UDP port there alone. "rdma dev set ... netns" says "Operation not supported", and with
// "rdma system set netns exclusive" the device belongs to the first namespace, so that the other sees none.
//
// With two hosts there are two machines, joined by a socket, each with rxe0 on d0,
// with 10.79.0.1 and 10.79.0.2. The programs run on the first; "on 2 command args..." in
// the machine runs a command on the second, with its input, output and exit status. Both have
// the same files, among them the test binaries with the testdata of their packages. Programs find
// GOMX_RDMAVM_HOST and GOMX_RDMAVM_HOSTS in their environment.
//
// With -mpi the machine also has Open MPI, MPICH and programs of bench/ordinary that
// measure them; that takes gcc. With -compare it runs bench/compare over RDMA with these, perftest and gomx, in
// turn, each as two processes bound to the two processors; further arguments are those of
// bench/compare, such as -rounds 9 or -markdown. What is known of the MPIs of Debian 12 over Soft-RoCE:
//
//	Open MPI 4.1.4, pml ucx         works, with the variables of UCX that bench/compare sets
//	MPICH 4.0.2, ch4:ucx            works likewise
//	either without these            hangs: UCX drops all its datagrams ("unhandled timeout error")
//	UCX_TLS=rc_verbs alone          "no auxiliary transport": rc brings along what it connects with
//	Open MPI, btl openib            "no cpcs for port": this one knows only udcm, which refuses Ethernet
//	Open MPI, mtl ofi (verbs)       "Unable to create verbs CQ"; with FI_UNIVERSE_SIZE=2 it works,
//	                                but takes 4 to 200 times as long as over UCX
//	Open MPI, btl ofi (verbs)       the processes fail
//
// What perftest prints as "inf" it could not measure, since the clock of a busy
// machine was too uneven. With two machines and fewer than four cores, each
// has one processor.
//
// The kernel, qemu and the programs are those of Debian. apt-get fetches them into
// the folder -cache, where they stay until somebody deletes it; nothing is
// installed. Only stale package lists need root, to be renewed. Files of -cache come first, and what they
// lack comes from the machine that the command runs on: its C library, above all.
//
// Files in the order of what happens:
//
//	packages.go   what apt-get fetches
//	binaries.go   what the go command builds
//	modules.go    kernel modules, and those that they need
//	libraries.go  programs, and the shared libraries that they need
//	cpio.go       the archive that the kernel unpacks as its root
//	initramfs.go  what is in it
//	mpi.go        the MPIs in it
//	machine.go    qemu
//	suite.go      what is run
//	guest/        the program that runs it, in the machine
//
// Exit status: 0 if all passed, 1 if something failed or took too long, 2 if the
// command line or a package is wrong, 3 if this machine lacks what it takes. "go run"
// shows that number, and ends with 1 itself.
package main
