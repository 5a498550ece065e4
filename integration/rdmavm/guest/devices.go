package main

// The commands that make the devices of a machine. HOST is its number.
const (
	common = `
		hostname hostHOST
		ip link set lo up
	`
	// The two ends of a cable lie in one namespace here, for rdma_rxe of this kernel finds its ways
	// in the first namespace only, and listens nowhere else. A rule that comes before the table of the machine's own
	// addresses sends packets for the other end through the cable, and the far end
	// must believe that its own address is a neighbour's.
	oneHost = `
		ip link add d0 type dummy
		ip addr add 10.79.0.1/24 dev d0
		ip link set d0 up
		rdma link add rxe0 type rxe netdev d0

		ip link add d1 type veth peer name d2
		sysctl -w net.ipv4.conf.all.rp_filter=0
		sysctl -w net.ipv4.conf.d1.rp_filter=0
		sysctl -w net.ipv4.conf.d2.rp_filter=0
		sysctl -w net.ipv4.conf.d1.accept_local=1
		sysctl -w net.ipv4.conf.d2.accept_local=1
		sysctl -w net.ipv4.conf.d1.arp_ignore=1
		sysctl -w net.ipv4.conf.d2.arp_ignore=1
		ip addr add 10.79.1.1/24 dev d1
		ip addr add 10.79.1.2/24 dev d2
		ip link set d1 up
		ip link set d2 up
		ip rule add pref 300 lookup local
		ip rule del pref 0 lookup local
		ip rule add pref 100 iif lo from 10.79.1.1 to 10.79.1.2 lookup 101
		ip rule add pref 100 iif lo from 10.79.1.2 to 10.79.1.1 lookup 102
		ip route add 10.79.1.2/32 dev d1 table 101
		ip route add 10.79.1.1/32 dev d2 table 102
		rdma link add rxe1 type rxe netdev d1
		rdma link add rxe2 type rxe netdev d2
	` + namespaces
	namespaces = `
		ip netns add n1
		ip netns add n2
		ip link add v1 netns n1 type veth peer name v2 netns n2
		ip -n n1 addr add 10.80.0.1/24 dev v1
		ip -n n2 addr add 10.80.0.2/24 dev v2
		ip -n n1 link set lo up
		ip -n n2 link set lo up
		ip -n n1 link set v1 up
		ip -n n2 link set v2 up
	`
	oneOfTwo = `
		ip link set eth0 name d0
		ip addr add 10.79.0.HOST/24 dev d0
		ip link set d0 up
		rdma link add rxe0 type rxe netdev d0
	`
)
